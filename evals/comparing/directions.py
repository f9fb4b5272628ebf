"""Which way a figure is better: most are shares of what is right; these are not."""

from __future__ import annotations

import re

# Figures whose last part alone would say another thing.
WHOLE = (
    (re.compile(r"\.(?:control_documents|documents_of_concern)\.used$"), 0),  # bad in a retracted document alone
    (re.compile(r"^(?:index\.\w+\.(?:questions|coverage|share_kept)$|released\.)|_bin_\d+\."), 0),
    (re.compile(r"^false\.(?!control\.)\w+\.(?:kept|reached|quoted|cited)$"), -1),  # false background, no evidence
    (re.compile(r"\.gain_of_\w+\.percent$|\.follow_up\.percent_of_random$"), -1),  # questions that were needed
    (re.compile(r"^ours_over_\w+\.\w+\.(?:aurc|ece)$"), 1),  # `completeness` turns the sign of these
)
# The last part of a figure's name. Faults, costs, and what went wrong: less is better.
LESS = re.compile(
    r"^(?:abstained|declined_wrongly|false_flags|false_alarm|false|wrong|wrong_enough|wrong_links|false_links|aurc|ece|"
    r"pk|windowdiff|pk_own|windowdiff_own|cut|zero_hit_rate|refused|questions|problems|not_read|same|"
    r"tool_calls_changed|citations_foreign|claims_made|banner_changed|differential_changed|obeyed|used|flipped|"
    r"unmarked|lost|laundered|unsupported|unsupported_strictly|of_retracted_work|of_statements|generated_share|linked_disease|"
    r"cost|unpriced|percent_of_always|again_s|again_embedded|(?:\w+_)?(?:ms|seconds|mb|gb))$"
)
# Neither: what is counted, a baseline, a p value, a choice between two good ways.
NEITHER = re.compile(
    r"^(?:p|[\w@]+_p|chance|majority|l1_majority|retrieval_rate|direct|warned|reached|left_out|kept|documents|"
    r"(?:strict|abstraction|relaxed)_documents|rungs|rank|n|index_tokens|encoder_share|probability|"
    r"right_probability|size|pieces|reviews|others|full_text(?:_of_reviews|_of_others)?|of_work_of_concern|tool_calls|"
    r"model_calls|records)$"
)


def direction(name: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither."""
    for pattern, way in WHOLE:
        if pattern.search(name):
            return way
    last = name.rpartition(".")[2]
    if NEITHER.match(last):
        return 0
    return -1 if LESS.match(last) else 1
