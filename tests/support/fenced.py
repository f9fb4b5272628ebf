"""What a request to a model says outside the fences that retrieved text stands in."""

from __future__ import annotations

import re

from support.scripted_model import Request

FENCE = re.compile(r"^~{3,}$")


def outside(request: Request) -> str:
    """What a request says outside its fences: system parts whole, of the others what no pair of fences holds."""
    out = []
    for message in request["messages"]:
        inside = ""
        for line in str(message.get("content") or "").splitlines():
            if FENCE.match(line) and inside in ("", line):
                inside = "" if inside else line
            elif not inside:
                out.append(line)
        assert not inside, "a fence is left open"
    return "\n".join(out)
