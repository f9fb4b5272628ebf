"""Random BERTs of the architecture of MedCPT's three models, small enough to build in a test."""

from __future__ import annotations

from pathlib import Path

WORDS = "the child has croup , fever and chest pain since monday . with".split()


def tiny_models(folder: Path) -> tuple[str, str, str]:
    """Query encoder, article encoder and cross-encoder, in folders below this one."""
    import torch
    from transformers import BertForSequenceClassification, BertModel

    torch.manual_seed(0)
    kinds = {"query": BertModel, "article": BertModel, "cross": BertForSequenceClassification}
    return tuple(_save(folder / name, kind) for name, kind in kinds.items())  # type: ignore[return-value]


def _save(folder: Path, kind: type) -> str:
    from transformers import BertConfig, BertTokenizerFast

    folder.mkdir(parents=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    # Weights larger than BERT's own start: a random model must tell its texts apart.
    config = BertConfig(vocab_size=len(words), **sizes, num_labels=1, initializer_range=0.4)
    kind(config).save_pretrained(folder)
    return str(folder)
