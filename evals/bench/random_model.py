"""`anamnesis bench random-model`: a real server with a tiny model of random weights; every turn must end honestly.

What such a model says is noise: no reply is valid, no tool is called, and every judgement falls back, or the noise is
taken for what it is. The server is `transformers serve`; what it needs is the extra ``model-server``.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from agent.agent import Agent
from agent.settings import load_settings
from evals.bench.faults import invalid
from evals.bench.figures import Figure, print_figures
from evals.bench.run import QUESTIONS, quotes_exact
from graphs.answering.contract import Answer
from prompts.errors import InputError, ServiceError
from tools.files import write_atomic

NEEDED = ("accelerate", "fastapi", "uvicorn")  # the extra `model-server`; code: what `transformers serve` asks for
START = 300.0  # seconds that a busy machine may need to start the server; ours (18 on an idle one)
POLL = 0.5  # seconds between looks whether it is up
TOKENS = 48  # of a reply: noise is noise; ours
WORDS = 400  # size of the vocabulary; ours
LONGEST = 65_536  # positions: longer than any prompt in a vocabulary this small
END = "<end>"
CHAT = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n"
    "{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def missing() -> str:
    """What keeps the server from starting here, "" for nothing."""
    lacking = [name for name in NEEDED if find_spec(name) is None]
    return f"{', '.join(lacking)} is not installed (extra `model-server`)" if lacking else ""


def build_random_model(folder: Path, text: str) -> None:
    """A Qwen2 of random weights with a tokenizer of the text's own pieces, saved in the folder."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.decoders import ByteLevel as Decoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.trainers import BpeTrainer
    from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    pieces = Tokenizer(BPE())
    pieces.pre_tokenizer, pieces.decoder = ByteLevel(add_prefix_space=False), Decoder()
    trainer = BpeTrainer(
        vocab_size=WORDS, special_tokens=[END], initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    pieces.train_from_iterator([text], trainer)
    ends = {"eos_token": END, "pad_token": END}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, **ends)  # type: ignore[no-untyped-call]
    tokenizer.chat_template = CHAT
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=WORDS, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=LONGEST, eos_token_id=0, pad_token_id=0, bos_token_id=None,
    )  # fmt: skip
    model = Qwen2ForCausalLM(config)
    sampled: Any = GenerationConfig
    model.generation_config = sampled(do_sample=True, eos_token_id=0, pad_token_id=0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@contextmanager
def random_server(folder: Path) -> Iterator[tuple[str, str]]:
    """The server over a new random model; its address and the model's name.

    Raises:
        InputError: what it needs is not installed.
        ServiceError: it does not start.
    """
    if missing():
        raise InputError(
            f"The server cannot start: {missing()}.", "Install the extra: pip install 'anamnesis[model-server]'."
        )
    model, log = folder / "model", folder / "server.log"
    build_random_model(model, QUESTIONS.read_text(encoding="utf-8"))
    (folder / "hub" / "hub").mkdir(parents=True)  # the server lists the models of its cache, and fails without one
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=_offline(folder / "hub"))  # noqa: S603
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}/v1", str(model)
        finally:
            process.terminate()
            process.wait()


def _offline(hub: Path) -> Mapping[str, str]:
    return {**os.environ, "HF_HOME": str(hub), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    started = time.monotonic()
    while time.monotonic() - started < START:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(POLL)
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise ServiceError(f"`transformers serve` did not start: {' '.join(last)}", "Look whether its extra is installed.")


def ask_all(url: str, model: str, questions: list[dict[str, Any]], home: Path | None = None) -> list[Answer]:
    """Every question in a session of its own that is deleted afterwards, all judged by the model at the address."""
    values: dict[str, Any] = {} if home is None else {"home": home}
    settings = load_settings(
        model=model,
        model_max_tokens=TOKENS,
        model_temperature=1.0,
        literature={"live": "off", "mirror": None},
        OPENAI_BASE_URL=url,
        OPENAI_API_KEY=None,
        **values,
    )
    answers = []
    with Agent(settings) as agent:
        for question in questions:
            answers.append(agent.ask(question["text"], options=question.get("options")))
            agent.delete_session(answers[-1].session)
    return answers


def figures_of(answers: list[Answer]) -> list[Figure]:
    """Valid answers, cited ids that nothing has, quotes that are not exact; and how often the model was asked."""
    n = len(answers)
    valid = sum(not invalid(a) for a in answers)
    unknown = sum(
        c.evidence_id not in {e.id for e in a.evidence} for a in answers for s in a.statements for c in s.citations
    )
    exact, quotes = quotes_exact(answers)
    calls = sum(a.usage.model_calls for a in answers)
    told = sum(any(x.code == "judged_locally" for x in a.notices) for a in answers if a.usage.model_calls)
    asked = sum(a.usage.model_calls > 0 for a in answers)
    return [
        Figure(name="random.valid_answers", value=valid, unit="answers", n=n, asked=str(n)),
        Figure(name="random.unknown_ids", value=unknown, unit="ids", n=n, asked="0"),
        Figure(name="random.unverified_quotes", value=quotes - exact, unit="quotes", n=quotes, asked="0"),
        Figure(name="random.model_calls", value=calls, unit="calls", n=n),
        Figure(name="random.told_of_fallback", value=told, unit="answers", n=asked),
    ]


def bench_random_model(questions: int, json_file: Path | None) -> None:
    """Ask the benchmark's questions, print the figures and write them where asked."""
    asked = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))[:questions]
    with tempfile.TemporaryDirectory() as folder, random_server(Path(folder)) as (url, model):
        figures = figures_of(ask_all(url, model, asked))
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())
