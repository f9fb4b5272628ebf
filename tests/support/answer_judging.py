"""A model that judges answers sensibly, for the tests of the judges and of what they score."""

from __future__ import annotations

from typing import Any

from evals.judges.by_model import JudgeByModel
from evals.scripted.player import asked, schema_of
from evals.scripted.server import Request
from prompts.language_model import LanguageModel, ModelSettings

QUESTION = "What should I do about a nosebleed?"
GOLDEN = "Sit upright and lean forward. Pinch the soft part of the nose for ten minutes."
WHOLE, HALF = GOLDEN, "Pinch the soft part of the nose for ten minutes."
NEAR = "For a nosebleed, sit upright and pinch the nose."
OTHER = "Gout is caused by crystals of uric acid in a joint."
ITEMS = ("interviewing", "examination", "professionalism", "judgement", "counselling", "organisation", "overall")


def reply(request: Request) -> dict[str, Any]:
    """What a sensible model says of the texts above."""
    name, shown = schema_of(request)["title"], asked(request)
    said = shown.partition("Answer:")[2]
    if name == "GuidelineReply":
        return {"points": ["Sit upright and lean forward.", "Pinch the soft part of the nose for ten minutes."]}
    if name == "AdherenceReply":
        return {
            "verdicts": [
                {"number": 1, "reason": "r", "verdict": "full" if "upright" in said else "no"},
                {"number": 2, "reason": "r", "verdict": "Full" if "Pinch" in said else "no"},
            ]
        }
    if name == "RelevancyReply":
        return {"asked": "a", "told": "t", "score": 5 if "nose" in said else 1}
    if name == "MiniCexReply":
        return {"items": [{"item": item, "reason": "r", "score": at} for at, item in enumerate(ITEMS, start=2)]}
    statements = shown.partition("Statements:\n")[2].partition("\n\nTexts")[0].splitlines()
    texts = shown.partition("Texts:")[2]
    verdicts = ["supported" if line[3:] in texts else "extrapolated" for line in statements]
    return {"verdicts": [{"number": n, "quote": "", "verdict": v} for n, v in enumerate(verdicts, start=1)]}


def by_model(url: str) -> JudgeByModel:
    settings = ModelSettings(name="m", base_url=url, timeout=5.0, max_retries=0)
    return JudgeByModel(LanguageModel(settings, "verification"))
