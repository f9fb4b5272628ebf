"""Settings of the telemetry."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from prompts.model_settings import Address

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"  # ours: what every system of that kind takes as a name


class TelemetrySettings(BaseModel):
    """Where traces and metrics go, as ``ANAMNESIS_TELEMETRY__...``. Without an endpoint nothing is loaded or sent.

    Attributes:
        endpoint: a collector that takes OTLP over HTTP, for example ``http://collector:4318``; its paths
            ``/v1/traces`` and ``/v1/metrics`` are added.
        service: the name under which this service is shown.
        share: of the turns and requests, how many are traced, 0 to 1. A caller may have one left out, never one more.
            Metrics count all.
        headers: to go with every delivery, for example ``ANAMNESIS_TELEMETRY__HEADERS__AUTHORIZATION``.
        certificate: a file of certificates that the collector's is checked against; None takes the usual ones.
        interval: seconds between two deliveries of metrics. timeout: seconds that a delivery may take.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    endpoint: Address = ""
    service: str = Field(default="anamnesis", pattern=NAME)
    share: float = Field(default=1.0, ge=0, le=1)
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    certificate: Path | None = None
    interval: float = Field(default=60.0, ge=0.1)  # the specification's default
    timeout: float = Field(default=5.0, gt=0)  # ours: half the library's; a collector stands near
