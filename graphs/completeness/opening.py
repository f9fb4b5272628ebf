"""The gate of the settings, with what its method needs."""

from __future__ import annotations

from graphs.completeness.classifier import open_labeller
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings
from graphs.completeness.whole_input import WholeInputGate
from tools.encoders import Encoder


def open_gate(settings: GateSettings, encoder: Encoder) -> CompletenessGateLocal:
    """The gate without a model.

    Raises:
        InputError: a trained classifier is asked for and none is named.
        DataError: a calibration or a classifier is damaged, or was made with another encoder.
    """
    labeller = open_labeller(settings.labels, settings.classifier, encoder)
    whole_input = WholeInputGate(encoder) if settings.method == "whole_input" else None
    return CompletenessGateLocal(settings, labeller, whole_input)
