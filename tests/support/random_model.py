"""`transformers serve` with a tiny model of random weights, which says noise. It needs the extra ``model-server``."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evals.bench.frame import QUESTIONS

NEEDED = ("accelerate", "fastapi", "uvicorn")  # the extra `model-server`; code: what `transformers serve` asks for
START = 300.0  # seconds that a busy machine may need to start the server; ours (18 on an idle one)
POLL = 0.5  # seconds between looks whether it is up
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
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    pieces = ByteLevelBPETokenizer()
    pieces.train_from_iterator([text], vocab_size=WORDS, special_tokens=[END], show_progress=False)
    ends = {"eos_token": END, "pad_token": END}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces._tokenizer, **ends)  # type: ignore[no-untyped-call]
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
    """The server over a new random model; its address and the model's name."""
    model, log = folder / "model", folder / "server.log"
    build_random_model(model, QUESTIONS.read_text(encoding="utf-8"))
    (folder / "hub" / "hub").mkdir(parents=True)  # the server lists the models of its cache, and fails without one
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    offline = {**os.environ, "HF_HOME": str(folder / "hub"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=offline)
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}/v1", str(model)
        finally:
            process.terminate()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    started = time.monotonic()
    while time.monotonic() - started < START and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(POLL)
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise AssertionError(f"`transformers serve` did not start: {' '.join(last)}")
