"""A mapped query as PubMed writes it in QueryTranslation; parsed again it finds the same records."""

from __future__ import annotations

from tools.mirror.syntax import Combination, Dates, Field, Near, Node, Term


def translation(node: Node) -> str:
    """The query with every tag and every parenthesis that its meaning needs."""
    if isinstance(node, Combination):
        return _chain(node)
    if isinstance(node, Term):
        return _term(node)
    if isinstance(node, Near):
        return f'"{" ".join(node.words)}"[{node.field.value}:~{node.distance}]'
    if isinstance(node, Dates):
        return f"{node.text}[{node.field.value}]"
    return node.text


def _chain(node: Combination) -> str:
    """Members of the first operator stand side by side; what follows another operator is grouped from the left."""
    text, last = _member(node.first), None
    for operator, part in node.rest:
        if last is not None and operator is not last:
            text = f"({text})"
        text, last = f"{text} {operator.value} {_member(part)}", operator
    return text


def _member(node: Node) -> str:
    return f"({translation(node)})" if isinstance(node, Combination) else translation(node)


def _term(term: Term) -> str:
    if term.field is Field.PMID:
        return f"{term.text}[{term.field.value}]"
    name = term.field.value if term.explode else f"{term.field.value}:noexp"
    star = "*" if term.truncated else ""
    bare = term.field is Field.AUTHOR and not term.quoted
    text = " ".join(term.text.lower().split())
    return f"{text}{star}[{name}]" if bare else f'"{text}{star}"[{name}]'
