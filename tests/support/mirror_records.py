"""Made-up PubMed records with few words, so that generated queries find something."""

from __future__ import annotations

import random

from tools.mirror.records import MeshHeading, MirrorRecord

WORDS = (
    "asthma heart attack aspirin cardiac cardiology cardiogram type 2 diabetes covid 19 the of naïve Müller's risk "
    "death child children trial beta-blocker neoplasm neoplasms therapy in stroke"
).split()
HEADINGS = ("Asthma", "Myocardial Infarction", "Diabetes Mellitus, Type 2", "Neoplasms", "COVID-19", "Stroke", "Child")
SUBHEADINGS = ("drug therapy", "mortality")
TYPES = ("Review", "Systematic Review", "Randomized Controlled Trial", "Letter")
AUTHORS = ("Smith J", "Smith JA", "Smith Jones A", "O'Brien J", "O'Brien JC Jr", "Li X", "Müller K")
JOURNALS = (("The New England journal of medicine", "N Engl J Med", "0028-4793"), ("Heart (UK)", "Heart", "1355-6037"))
ENTRY_TERMS = {"heart attack": "Myocardial Infarction", "cardiac attack": "Myocardial Infarction"}
NARROWER = {"neoplasms": ("Stroke",), "review": ("Systematic Review",), "asthma": ()}


class SmallDescriptors:
    """A descriptor table of a few entry terms and one narrower heading."""

    def heading(self, name: str) -> str | None:
        return ENTRY_TERMS.get(name)

    def narrower(self, name: str) -> tuple[str, ...]:
        return NARROWER.get(name, ())


def made_up(count: int = 300, seed: int = 7) -> list[MirrorRecord]:
    """Records with PMIDs from 10001 on, the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - no secret depends on it
    return [_record(str(10_001 + n), chance) for n in range(count)]


def _record(pmid: str, chance: random.Random) -> MirrorRecord:
    def text(least: int, most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))

    year, month, day = chance.randint(2005, 2012), chance.randint(1, 12), chance.randint(1, 28)
    dates = ("", f"{year}", f"{year}-{month:02d}", f"{year}-{month:02d}-{day:02d}")
    journal = chance.choice((("", "", ""), *JOURNALS))
    mesh = tuple(_heading(name, chance) for name in chance.sample(HEADINGS, chance.randint(0, 3)))
    return MirrorRecord(
        pmid=pmid,
        title=text(2, 6).capitalize(),
        abstract=text(4, 16) if chance.random() < 0.8 else "",
        date=chance.choice(dates),
        entered=f"2013-{month:02d}-{day:02d}" if chance.random() < 0.7 else "",
        journal=journal[0],
        journal_short=journal[1],
        issns=(journal[2],) if journal[2] else (),
        languages=(chance.choice(("eng", "eng", "chi", "jpn")),),
        publication_types=tuple(chance.sample(TYPES, chance.randint(0, 2))),
        mesh=mesh,
        keywords=tuple(text(1, 2) for _ in range(chance.randint(0, 2))),
        authors=tuple(chance.sample(AUTHORS, chance.randint(0, 2))),
        doi=f"10.1000/Made.{pmid}",
        pmcid=f"PMC{pmid}" if chance.random() < 0.3 else "",
        indexing=chance.choice(("MEDLINE", "In-Process", "Publisher", "PubMed-not-MEDLINE", "")),
    )


def _heading(name: str, chance: random.Random) -> MeshHeading:
    subheadings = tuple(s for s in SUBHEADINGS if chance.random() < 0.3)
    major = tuple(s for s in subheadings if chance.random() < 0.5)
    return MeshHeading(name=name, major=chance.random() < 0.3, subheadings=subheadings, major_subheadings=major)
