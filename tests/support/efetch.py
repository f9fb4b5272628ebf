"""The records of an answer of efetch, all at once."""

from __future__ import annotations

from tools.literature.publications import Records, collect_records
from tools.literature.replies import parse_xml


def parse_articles(body: bytes) -> Records:
    """The records of an efetch answer or of one of PubMed's yearly files; raises as `replies.parse_xml` does."""
    return collect_records(parse_xml(body, "PubmedArticleSet"))
