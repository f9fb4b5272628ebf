"""`report_text`: the agent's report on a case beside a reference report (MedRAG's measures of text).

Read is every file of JSON lines in the folder of ``--data``: ``id``, ``case``, ``report``; without one our four written
samples, which show the form and measure nothing. Each measure is a mean over cases, in percent. ``bleu``, ``rouge_1``,
``rouge_2``, ``rouge_l`` and ``meteor`` measure overlap; ``bertscore_precision``, ``_recall`` and
``_f1`` need a model on disk (``ANAMNESIS_EVAL_BERTSCORE``). ``mini_cex`` has seven items of 1 to 9, by the language
model of the settings in its role ``verification``. ``words`` is the mean number of words, ``empty`` the share of cases
without a report; such a case counts 0 in every measure of text. ``--config medrag-kg`` and ``medrag-kg:without-graph``
are the two arms; the second needs a language model.

Words are lower-case runs of letters and digits; each Chinese character is a word. BLEU (Papineni et al. 2002) is
nltk's, with four n-grams and its first smoothing (Chen and Cherry 2014), because short texts share no four words.
ROUGE (Lin 2004) is the F measure, without stemming. METEOR (Lavie and Agarwal 2007) is nltk's, with exact words and
stems: its third stage needs WordNet, which is not shipped, so that synonyms do not count.

BERTScore (Zhang et al. 2020): each token's nearest token of the other text by the vectors of a model on disk, without
weights by rarity and without rescaling by a baseline. A text longer than the model reads is read in windows.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_settings import BaseSettings, SettingsConfigDict
from rapidfuzz.distance import LCSseq

from evals.contract import SHORT, AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.cases import REPORTS, SAMPLE, ReportCase, read_report_cases
from evals.judges.by_model import model_judge
from evals.judges.contract import AT_ONCE, ReportJudge, ask_all
from evals.statistics import mean, share
from graphs.reporting.contract import Report
from prompts.errors import InputError

if TYPE_CHECKING:
    import torch

WITHOUT = "medrag-kg:without-graph"
MEASURES = ("bleu", "rouge_1", "rouge_2", "rouge_l", "meteor")
MODEL = "ANAMNESIS_EVAL_BERTSCORE"
LONGEST = 512  # code: positions of BERT, for a tokenizer that does not say how much its model reads
WORD = re.compile(r"[^\W_\u4e00-\u9fff]+|[\u4e00-\u9fff]")


class Written(NamedTuple):
    """A case, and the text of the agent's report on it; "" for none."""

    case: ReportCase
    text: str


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` cases, each with a report asked for."""
    open_bertscore()  # a wrong folder is told before anything is asked
    rows = context.sample(read_report_cases(context.data))
    return [Item(f"case/{row.id}", "case", (row.case,), row.report, row, report=True) for row in rows]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a report was written, and how near it is to the reference."""
    text = written(item, reply).text
    near = text_scores(text, item.row.report)["rouge_l"]
    if not text:
        return Judged(False, "nothing", "No report is written.")
    return Judged(True, text[:SHORT], f"ROUGE-L with the reference is {near:.2f}.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """Hold every report to its reference."""
    judging = model_judge(context.settings, context.home)
    if context.settings.language_model is None:
        context.not_run[WITHOUT] = "without the graph a language model writes the report; set ANAMNESIS_MODEL"
    rows = [written(item, reply) for item, reply in told]
    return [
        *text_figures(rows, context.seed),
        *bert_figures(rows, open_bertscore(), context),
        *asyncio.run(mini_cex_figures(rows, judging, context)),
    ]


def written(item: Item, reply: Reply) -> Written:
    """The case with the report on it."""
    report = reply.answer.report
    return Written(item.row, text_of(report) if report is not None else "")


def text_of(report: Report) -> str:
    """A report as plain text: its statements part by part, then its questions."""
    return " ".join([*(s.statement.text for s in report.statements), *(q.text for q in report.questions)])


def text_figures(rows: Sequence[Written], seed: int) -> list[Figure]:
    """Overlap with the references, length, and the share of cases without a report."""
    scores = [text_scores(row.text, row.case.report) for row in rows]
    out = [f for m in MEASURES for f in mean(f"report_text.cases.{m}", [100 * s[m] for s in scores], seed)]
    out += mean("report_text.cases.words", [float(len(words(row.text))) for row in rows], seed)
    out += mean("report_text.references.words", [float(len(words(row.case.report))) for row in rows], seed)
    return out + share("report_text.cases.empty", [not row.text for row in rows])


def bert_figures(rows: Sequence[Written], scorer: BertScore | None, context: TaskContext) -> list[Figure]:
    """BERTScore; without a model it is told as not run."""
    if scorer is None:
        context.not_run["bertscore"] = f"no model on disk is named; set {MODEL} to the folder of one"
        return []
    scores = [scorer.score(row.text, row.case.report)._asdict() for row in context.each(rows, "bertscore")]
    return [
        figure
        for part in ("precision", "recall", "f1")
        for figure in mean(f"report_text.cases.bertscore_{part}", [100 * s[part] for s in scores], context.seed)
    ]


async def mini_cex_figures(rows: Sequence[Written], judge: ReportJudge | None, context: TaskContext) -> list[Figure]:
    """The seven items of the Mini-CEX, means of 1 to 9; without a model, or where it fails, told as not run."""
    if judge is None:
        context.not_run["mini_cex"] = "a language model judges; set ANAMNESIS_MODEL"
        return []
    jobs: list[Any] = [partial(judge.mini_cex, row.case.case, row.text) for row in rows if row.text]
    scores = [found for found in await ask_all(jobs, "mini_cex", context, at_once=AT_ONCE) if found is not None]
    items = list(scores[0]) if scores else []
    return [
        figure
        for item in items
        for figure in mean(f"report_text.mini_cex.{item}", [float(s[item]) for s in scores], context.seed)
    ]


def text_scores(text: str, reference: str) -> dict[str, float]:
    """Every measure by its name; all 0 where one of the texts has no words."""
    said, wanted = words(text), words(reference)
    if not said or not wanted:
        return dict.fromkeys(MEASURES, 0.0)
    return {
        "bleu": bleu(said, wanted),
        "rouge_1": rouge_n(said, wanted, 1),
        "rouge_2": rouge_n(said, wanted, 2),
        "rouge_l": f_measure(LCSseq.similarity(said, wanted), len(said), len(wanted)),
        "meteor": meteor(said, wanted),
    }


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return WORD.findall(text.lower())


def bleu(said: Sequence[str], wanted: Sequence[str]) -> float:
    """BLEU-4 of one text."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    return float(sentence_bleu([list(wanted)], list(said), smoothing_function=SmoothingFunction().method1))


def rouge_n(said: Sequence[str], wanted: Sequence[str], n: int) -> float:
    """The F measure over n-grams, each counted as often as both texts have it; 0 where a text has none."""
    left, right = _grams(said, n), _grams(wanted, n)
    return f_measure((left & right).total(), left.total(), right.total())


def f_measure(shared: int, said: int, wanted: int) -> float:
    """Harmonic mean of precision and recall, 0..1; 0 where nothing is shared."""
    return 2 * shared / (said + wanted) if shared else 0.0


def meteor(said: Sequence[str], wanted: Sequence[str]) -> float:
    """METEOR without synonyms."""
    from nltk.translate.meteor_score import single_meteor_score

    return float(single_meteor_score(list(wanted), list(said), wordnet=_NoSynonyms()))


def _grams(found: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(found[at:] for at in range(n)), strict=False))


class _NoSynonyms:
    """In place of WordNet: no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:
        """None."""
        del word
        return []


class BertScoreSettings(BaseSettings):
    """``ANAMNESIS_EVAL_BERTSCORE``: the folder of a model as transformers saves it; empty for none."""

    model_config = SettingsConfigDict(env_prefix="ANAMNESIS_EVAL_", env_file=".env", extra="ignore")

    bertscore: str = ""


class Scored(NamedTuple):
    """Precision, recall and their harmonic mean, each -1..1 and in practice 0..1."""

    precision: float
    recall: float
    f1: float


class BertScore:
    """Scores pairs of texts with a model.

    Args:
        folder: of the model and its tokenizer; nothing is downloaded.

    Raises:
        InputError: the folder is missing or holds no such model.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"There is no model folder {folder}.", f"Name one that is there in {MODEL}.")
        from transformers import AutoModel, AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            self._model: Any = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        except (OSError, ValueError, KeyError) as error:
            what = f"{folder} holds no model that can be opened."
            raise InputError(what, f"Give a folder as transformers saves it in {MODEL}.") from error
        positions = getattr(self._model.config, "max_position_embeddings", LONGEST)
        # Two positions are for the tokens around a text; RoBERTa counts its own from 2, which two more make up for.
        self._window = min(int(positions), LONGEST) - 4

    def score(self, text: str, reference: str) -> Scored:
        """The score of a text against a reference; all 0 where one of them has no tokens."""
        said, wanted = self._vectors(text), self._vectors(reference)
        if not len(said) or not len(wanted):
            return Scored(0.0, 0.0, 0.0)
        near = said @ wanted.T
        precision, recall = float(near.max(dim=1).values.mean()), float(near.max(dim=0).values.mean())
        total = precision + recall
        return Scored(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)

    def _vectors(self, text: str) -> torch.Tensor:
        """Array (tokens, hidden), normalised; the tokens around each window are left out."""
        import torch

        ids = self._tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        parts = []
        for at in range(0, len(ids), self._window):
            piece = ids[at : at + self._window]
            before, after = self._around()
            with torch.inference_mode():
                hidden = self._model(input_ids=torch.tensor([[*before, *piece, *after]])).last_hidden_state[0]
            parts.append(hidden[len(before) : len(before) + len(piece)].float())
        if not parts:
            return torch.zeros((0, 1))
        return torch.nn.functional.normalize(torch.cat(parts), dim=-1)

    def _around(self) -> tuple[list[int], list[int]]:
        """The tokens that the model expects before and after a text."""
        first, last = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        return ([first] if first is not None else []), ([last] if last is not None else [])


def open_bertscore(folder: str | None = None) -> BertScore | None:
    """The scorer of the settings; None when they name no model. Raises InputError for a folder without one."""
    named = BertScoreSettings().bertscore if folder is None else folder
    return BertScore(Path(named).expanduser()) if named else None


TASK = Task(
    name="report_text",
    what="the report on a case beside a reference: BLEU, ROUGE, METEOR, BERTScore; Mini-CEX by a model",
    inputs=(REPORTS,),
    expected="1 minute for 60 cases",
    limit=200,
    home_data=SAMPLE,
    by_agent=True,
    by_model=True,
    asks=AgentEvaluation(items=items, judge=judge, figures=counted),
)
