"""XML files as trees whose elements know their lines; documents that bring a DTD are refused, nothing is fetched."""

from __future__ import annotations

from typing import Any

from evals.datasets.originals.contract import Problem
from evals.datasets.originals.members import Member, bytes_of
from prompts.errors import DataError


def xml_root(member: Member) -> Any:
    """The root element of a file, or the `Problem` that it is."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False)
    try:
        root = etree.fromstring(bytes_of(member), parser)
    except DataError as error:
        return Problem(member.name, 0, f"{error.what} {error.advice}")
    except etree.XMLSyntaxError as error:
        return Problem(member.name, error.lineno or 0, f"No well-formed XML ({error.msg}).")
    if root.getroottree().docinfo.internalDTD is not None:
        return Problem(member.name, 1, "The XML brings a DTD of its own, which is not taken.")
    return root


def children(element: Any, *names: str) -> list[Any]:
    """The child elements of these names, capitals aside."""
    wanted = {name.casefold() for name in names}
    return [c for c in element if isinstance(c.tag, str) and c.tag.casefold() in wanted]


def below(element: Any, *names: str) -> list[Any]:
    """The elements of these names at any depth, capitals aside, in order."""
    wanted = {name.casefold() for name in names}
    return [e for e in element.iter() if isinstance(e.tag, str) and e.tag.casefold() in wanted]


def said(element: Any, *names: str) -> str:
    """The text of the first child of these names, white space at its ends taken off; "" for none."""
    found = children(element, *names)
    return "".join(found[0].itertext()).strip() if found else ""
