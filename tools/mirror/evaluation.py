"""The documents of a resolved query."""

from __future__ import annotations

from pyroaring import BitMap

from tools.mirror.leaves import Leaves
from tools.mirror.syntax import Combination, Node, Operator, Term, Untagged


def evaluate(node: Node, leaves: Leaves) -> BitMap:
    """The live documents that a query finds, its operators taken from left to right.

    Raises:
        ValueError: words that were not mapped; a query is resolved first.
    """
    if isinstance(node, Combination):
        found = evaluate(node.first, leaves)
        for operator, part in node.rest:
            if operator is Operator.OR and isinstance(part, Term) and part.held:
                continue
            if operator is not Operator.OR and not found:
                continue
            found = _combined(found, operator, evaluate(part, leaves))
        return found
    if isinstance(node, Untagged):
        raise ValueError("untagged words are mapped before they are searched")
    return leaves.documents(node)


def _combined(left: BitMap, operator: Operator, right: BitMap) -> BitMap:
    if operator is Operator.AND:
        return left & right
    return left | right if operator is Operator.OR else left - right
