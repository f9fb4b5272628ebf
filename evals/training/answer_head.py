"""Training of the head that finds the sentences that answer (`tools/reading/answering.py`).

Each question is read beside every sentence of its own page and of the page that is most like it: cross-entropy with the
sentences that answer, the first counting most. So that it can say that nothing answers, some are read without theirs.
First all questions in turn, then those as people type them. Which part of a medicine's page a question asks for is
learned apart, by a regression, from the same questions.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from tools.evidence import Frozen, content_key
from tools.library.monograph import read_monograph
from tools.medicines.pages import starter_pages
from tools.questions.sentences import told_of
from tools.reading.answered import answered
from tools.reading.answering import CHEAP, LAST, PARTS, SIDE, Told, cheap, side, states, states_of
from tools.weights import store
from tools.yaml_files import read_yaml

TYPED = Path(__file__).parents[2] / "tools" / "reading" / "asked"
STARTER = Path(__file__).parents[2] / "tools" / "library" / "starter"
WIDTH = 1152
PART_COPIES = 9  # ours: medicines of which each general question is asked where its part is learned
NOWHERE = "Nowhere"  # heading of the questions that no page of a medicine answers
OPENING = 3  # ours: sentences under a heading that answer what is asked of it in general
IT = re.compile(r"\bit\b", re.IGNORECASE)


class Asked(NamedTuple):
    """A question, its page, and the places in that of the sentences that answer, best first."""

    question: str
    page: str
    gold: tuple[int, ...]
    typed: bool


class Settings(Frozen):
    """Settings of the training. All ours.

    Attributes:
        size: of the space in which questions and sentences meet. known: closed questions that are learned from.
        without: share of the questions that are read without what answers them. held: one page in so many is held out.
        copies: pages that a question about any of them is asked of.
        passes, rate: over all questions, then over the typed ones and those of the pages.
        parts: steps of the regression on parts; shrink: its penalty on the weights.
    """

    size: int = 64
    known: int = 16_000
    without: float = 0.15
    copies: int = 3
    held: int = 6
    passes: tuple[int, int] = (3, 2)
    rate: tuple[float, float] = (2e-3, 5e-4)
    batch: int = 64
    decay: float = 1e-4
    dropout: float = 0.4
    seed: int = 7
    parts: int = 300
    shrink: float = 1e-4


class Towers(nn.Module):
    """The head as it is trained."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.question, self.sentence = nn.Linear(WIDTH, settings.size), nn.Linear(2 * WIDTH + SIDE, settings.size)
        self.side, self.none = nn.Linear(WIDTH, SIDE), nn.Linear(WIDTH, 1)
        self.cheap, self.scale = nn.Parameter(torch.full((CHEAP,), 5.0)), nn.Parameter(torch.tensor([8.0]))
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, asked: Any, said: Any, beside: Any, near: Any) -> Any:
        """Logits (batch, sentences + 1), the last of none."""
        left = nn.functional.normalize(self.question(self.dropout(asked)), dim=-1)
        right = nn.functional.normalize(self.sentence(torch.cat([said, beside], -1)), dim=-1)
        logits = self.scale * (right @ left[..., None])[..., 0] + near @ self.cheap
        logits = logits + (beside @ self.side(asked)[..., None])[..., 0]
        return torch.cat([logits, self.none(asked)], -1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is shipped."""
        weights = {n: p.detach().numpy() for n, p in self.named_parameters()}
        towers = {
            name + end: weights[f"{name}.{part}"]
            for name in ("question", "sentence", "side", "none")
            for end, part in (("", "weight"), ("_bias", "bias"))
        }
        towers["none"] = towers["none"][0]
        halves = {n: a.astype(np.float16 if n in ("question", "sentence") else np.float32) for n, a in towers.items()}
        return halves | {n: weights[n].astype(np.float32) for n in ("cheap", "scale")}


def train_answering(out: Path, tell: Callable[[str], None]) -> None:
    """Train on all pages but some, say what the head does with these, then train on all and write the weights."""
    settings = Settings()
    torch.set_num_threads(1)  # the same file again
    pages = library()
    rows = questions(pages, settings)
    asked = {r.page for r in rows}
    pages = {name: told for name, told in pages.items() if name in asked}
    tell(f"{len(rows)} questions, {sum(r.typed for r in rows)} as typed, of {len(pages)} pages")
    reading = Matter(pages, rows)
    held = [r for r in rows if r.typed and _held(r.page, settings)]
    model = _fit(reading, [r for r in rows if not _held(r.page, settings)], settings, tell)
    for line in measured(model, reading, held):
        tell(f"held out, {line}")
    whole = _fit(reading, rows, settings, tell).arrays() | fit_parts(pages, rows, settings, tell)
    store(out, whole, {"settings": settings.model_dump_json()})


def fit_parts(
    pages: dict[str, tuple[Told, ...]], rows: Sequence[Asked], settings: Settings, tell: Callable[[str], None]
) -> dict[str, NDArray[np.float32]]:
    """The weights by which a question tells which of `PARTS` it asks for, last that none of them; how right they are on
    pages held out is told."""
    rows = [r for r in (*rows, *general(pages, settings, PART_COPIES)) if r.typed]
    asked = [(r, pages[r.page][r.gold[0]].section.lower() if r.gold else "") for r in dict.fromkeys(rows)]
    asked = [(r, part) for r, part in asked if part in (*PARTS, "")]
    read, part = states([r.question for r, _ in asked]), [(*PARTS, "").index(part) for _, part in asked]
    kept = np.array([not _held(r.page, settings) for r, _ in asked])
    weights = _regression(read[kept], np.array(part)[kept], settings)
    right = (read[~kept] @ weights["part"].T + weights["part_bias"]).argmax(1) == np.array(part)[~kept]
    tell(f"{len(asked)} questions of medicines, {len(right)} held out: the part right in {100 * right.mean():.1f} %")
    return _regression(read, np.array(part), settings)


def _regression(
    read: NDArray[np.float32], part: NDArray[np.int64], settings: Settings
) -> dict[str, NDArray[np.float32]]:
    torch.manual_seed(settings.seed)
    x, y, model = torch.tensor(read), torch.tensor(part), nn.Linear(WIDTH, len(PARTS) + 1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.0)
    for _ in range(settings.parts):
        loss: Any = nn.functional.cross_entropy(model(x), y) + settings.shrink * model.weight.square().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return {"part": model.weight.detach().numpy(), "part_bias": model.bias.detach().numpy()}


def library() -> dict[str, tuple[Told, ...]]:
    """The sentences of every page of the starter library."""
    monographs = [*map(read_monograph, sorted(STARTER.glob("*.md"))), *starter_pages()]
    return {
        m.front.id: tuple(told for _, told in told_of(m.front.title, m.text, m.sections))
        for m in monographs
        if m.front.language == "en"
    }


def questions(pages: dict[str, tuple[Told, ...]], settings: Settings) -> list[Asked]:
    """Typed and general questions, those of pages, and a sample of closed ones, each with sentences of its page."""
    places = {page: {t.text: n for n, t in reversed(list(enumerate(told)))} for page, told in pages.items()}
    out = []
    for path in sorted(TYPED.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            at = places[row["document"]]
            gold = tuple(at[s] for s in row["sentences"] if s in at)
            out += [Asked(row["question"], row["document"], gold, True)] if gold else []
    out += general(pages, settings)
    for path in sorted(STARTER.glob("*.md")):
        for q in read_monograph(path).front.questions:
            at, said = places[path.stem], " ".join(q.span.split())
            gold = tuple(n for text, n in at.items() if said in text or text in said)
            out += [Asked(q.q, path.stem, gold, False)] if gold else []
    of = {text: page for page, at in places.items() for text in at}
    closed = [(q.question, s) for s, known in sorted(answered().items()) if s in of for q in known]
    sample = random.Random(settings.seed).sample(closed, min(settings.known, len(closed)))  # noqa: S311
    return out + [Asked(q, of[s], (places[of[s]][s],), False) for q, s in sample]


def general(pages: dict[str, tuple[Told, ...]], settings: Settings, copies: int = 0) -> list[Asked]:
    """What is asked of any disease or medicine, of some (``copies``): the first sentences under its heading answer."""
    rng = random.Random(settings.seed)  # noqa: S311
    under: dict[str, dict[str, tuple[int, ...]]] = {}
    for page, told in pages.items():
        for heading in dict.fromkeys(t.section for t in told):
            places = tuple(n for n, t in enumerate(told) if t.section == heading)[:OPENING]
            under.setdefault(heading, {})[page] = places
    out = []
    under[NOWHERE] = dict.fromkeys(under["Uses"], (0,)) if copies else {}
    for heading, asked in read_yaml(TYPED / "general.yaml").items():
        for question in asked if under[heading] else ():
            for page in rng.sample(sorted(under[heading]), copies or settings.copies):
                title = pages[page][0].title
                name = rng.choice((title, title.lower(), title.partition(" (")[0].lower()))
                before, _, after = IT.sub("\0", question, count=1).partition("\0")
                at = () if heading == NOWHERE else under[heading][page]
                out.append(Asked(f"{before}{name}{after}", page, at, True))
    return out


class Matter:
    """What the head reads of every question, made once."""

    def __init__(self, pages: dict[str, tuple[Told, ...]], rows: Sequence[Asked]) -> None:
        told = [t for page in pages.values() for t in page]
        self.said = torch.tensor(_in_parts(told))
        self.beside = torch.tensor(side(told))
        ends = np.cumsum([len(page) for page in pages.values()])
        self.place = {name: (int(e) - len(pages[name]), int(e)) for name, e in zip(pages, ends, strict=True)}
        asked = np.concatenate([states([r.question for r in rows[n : n + 512]]) for n in range(0, len(rows), 512)])
        self.asked = {row: torch.tensor(a) for row, a in zip(rows, asked, strict=True)}
        names = list(pages)
        middle = np.stack([self.said[a:b, -384:].numpy().mean(0) for a, b in map(self.place.__getitem__, names)])
        middle /= np.linalg.norm(middle, axis=1, keepdims=True)
        self.near: dict[Asked, Any] = {}
        self.at: dict[Asked, NDArray[np.int64]] = {}
        for row, states_ in zip(rows, asked, strict=True):
            like = middle @ states_[LAST]
            like[names.index(row.page)] = -1.0
            other = names[int(like.argmax())]
            at = np.concatenate([np.arange(*self.place[row.page]), np.arange(*self.place[other])])
            self.at[row] = at
            of = [*pages[row.page], *pages[other]]
            self.near[row] = torch.tensor(cheap(row.question, of, states_, self.said[at].numpy()))

    def batch(self, rows: Sequence[Asked], bare: Sequence[bool]) -> tuple[Any, ...]:
        """States of questions, of sentences, what stands beside, cheap features, mask and target of a batch.

        ``bare``: which questions are read without the sentences that answer.
        """
        most = max(len(self.at[r]) for r in rows)
        index = torch.zeros((len(rows), most), dtype=torch.long)
        near = torch.zeros((len(rows), most, CHEAP))
        mask, target = torch.zeros((len(rows), most + 1), dtype=torch.bool), torch.zeros((len(rows), most + 1))
        mask[:, -1] = True
        for n, (row, without) in enumerate(zip(rows, bare, strict=True)):
            size = len(self.at[row])
            index[n, :size], near[n, :size] = torch.tensor(self.at[row]), self.near[row]
            mask[n, :size] = True
            if without:
                mask[n, list(row.gold)] = False
                target[n, -1] = 1.0
            else:
                weights = [1 / (1 + k) for k in range(len(row.gold))]
                target[n, list(row.gold)] = torch.tensor(weights) / sum(weights)
        return torch.stack([self.asked[r] for r in rows]), self.said[index], self.beside[index], near, mask, target


def _fit(matter: Matter, rows: Sequence[Asked], settings: Settings, tell: Callable[[str], None]) -> Towers:
    torch.manual_seed(settings.seed)
    rng = random.Random(settings.seed)  # noqa: S311
    model = Towers(settings)
    typed = [r for r in rows if r.typed]
    stages = (list(rows), [*typed, *rng.sample([r for r in rows if not r.typed], min(len(typed), len(rows) // 2))])
    for part, passes, rate in zip(stages, settings.passes, settings.rate, strict=True):
        optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=settings.decay)
        steps = passes * -(-len(part) // settings.batch)
        fall = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
        for number in range(passes):
            model.train()
            rng.shuffle(part)
            total = 0.0
            for n in range(0, len(part), settings.batch):
                batch = part[n : n + settings.batch]
                *read, mask, target = matter.batch(batch, [rng.random() < settings.without for _ in batch])
                loss = -(model(*read).masked_fill(~mask, -1e4).log_softmax(-1) * target).sum(-1).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                fall.step()
                total += float(loss.detach()) * len(batch)
            tell(f"pass {number + 1} of {passes} over {len(part)}: loss {total / len(part):.3f}")
    return model.eval()


def measured(model: Towers, matter: Matter, rows: Sequence[Asked]) -> list[str]:
    """What a head does with questions: first and among three right, how sure of none, and which numbers to go by."""
    with_, without = _shares(model, matter, rows, False), _shares(model, matter, rows, True)
    order = [np.argsort(-s[:-1], kind="stable") for s in with_]
    first = [int(o[0]) in r.gold for o, r in zip(order, rows, strict=True)]
    three = [bool(set(o[:3].tolist()) & set(r.gold)) for o, r in zip(order, rows, strict=True)]
    out = [f"{len(rows)}: first sentence right {100 * np.mean(first):.1f} %, one of three {100 * np.mean(three):.1f} %"]
    for at in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        kept, left = np.mean([s[-1] < at for s in with_]), np.mean([s[-1] < at for s in without])
        right = np.mean([f for f, s in zip(first, with_, strict=True) if s[-1] < at])
        told = f"told {100 * kept:.1f} % (first right {100 * right:.1f} %), without its sentences {100 * left:.1f} %"
        out.append(f"none below {at}: {told}")
    for least in (0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3):
        sets = [[int(n) for n in o[:4] if n == o[0] or s[n] >= least] for o, s in zip(order, with_, strict=True)]
        hit = sum(len(set(k) & set(r.gold)) for k, r in zip(sets, rows, strict=True))
        given, gold = sum(map(len, sets)), sum(len(r.gold) for r in rows)
        out.append(f"least {least}: precision {hit / given:.3f}, recall {hit / gold:.3f}, {given / len(rows):.2f} told")
    return out


def _shares(model: Towers, matter: Matter, rows: Sequence[Asked], bare: bool) -> list[NDArray[np.float32]]:
    out: list[NDArray[np.float32]] = []
    with torch.inference_mode():
        for n in range(0, len(rows), 64):
            part = rows[n : n + 64]
            *read, mask, _ = matter.batch(part, [bare] * len(part))
            out += list(model(*read).masked_fill(~mask, -1e4).softmax(-1).numpy())
    return out


def _held(page: str, settings: Settings) -> bool:
    return int(content_key(page)[:8], 16) % settings.held == 0


def _in_parts(told: Sequence[Told]) -> NDArray[np.float32]:
    return np.concatenate([states_of(told[n : n + 1024]) for n in range(0, len(told), 1024)])
