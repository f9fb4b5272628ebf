"""Documents of a session over HTTP: a file is put in, read apart, and kept with the session alone."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request

from agent.loop import arun
from agent.server.contract import DocumentList
from agent.server.guard import Asker, The
from agent.server.problems import Refusal, answers
from agent.server.sessions_api import USUAL, SessionPath
from agent.sessions.documents import NAME, SessionDocument

PLACE = re.compile(r"/api/sessions/[^/]+/documents/?\Z")  # where a request may be as long as a document

FileName = Annotated[
    str, Query(alias="name", min_length=1, max_length=NAME, description="The file's name; its ending tells its kind.")
]
BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}}

documents = APIRouter(prefix="/api/sessions/{session}/documents", tags=["sessions"], responses=answers(*USUAL, 404))


@documents.post("", status_code=201, openapi_extra=BODY)
async def add_document(
    session: SessionPath, request: Request, the: The, caller: Asker, name: FileName
) -> SessionDocument:
    """Put a file into a session: its text is kept with it and nowhere else, and a message may be answered from it."""
    await arun(the.agent.records.get(session, owner=caller.id))  # a stranger's file is not even received
    data = await request.body()
    if not data:
        raise Refusal(400, "bad_input", "The file is empty.", "Save the document again, or leave it out.")
    return await arun(the.agent.documents.add(session, name, data, owner=caller.id))


@documents.get("")
async def list_documents(session: SessionPath, the: The, caller: Asker) -> DocumentList:
    """The documents of a session."""
    return DocumentList(documents=await arun(the.agent.documents.all(session, owner=caller.id)))
