"""Which way a figure is better: most are shares of what is right; these are not."""

from __future__ import annotations

import re

# The last part of a figure's name. Faults, costs, and what went wrong: less is better.
LESS = re.compile(
    r"^(?:abstained|declined_wrongly|false_flags|wrong_enough|wrong_links|false_links|aurc|ece|pk|windowdiff|pk_own|"
    r"windowdiff_own|cut|zero_hit_rate|refused|questions|problems|tool_calls_changed|citations_foreign|claims_made|"
    r"banner_changed|differential_changed|flipped|unmarked|lost|laundered|unsupported|generated_share|"
    r"(?:\w+_)?(?:ms|seconds|s|mb|gb))$"
)
# Neither: what is counted, a baseline, a p value, a choice between two good ways.
NEITHER = re.compile(
    r"^(?:p|\w+_p|chance|majority|retrieval_rate|direct|warned|reached|left_out|kept|documents|rungs|rank|n|"
    r"index_tokens|encoder_share|probability|right_probability|size)$"
)


def direction(name: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither."""
    last = name.rpartition(".")[2]
    if NEITHER.match(last):
        return 0
    return -1 if LESS.match(last) else 1
