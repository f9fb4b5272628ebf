"""What every process of a test would read again: read once, in the process from which they are forked."""

from __future__ import annotations

from graphs.triage.head import heads
from graphs.triage.replacing import network
from tools.reading.assertion import weights as assertions
from tools.spelling import mended

mended("an unheardofword")  # lists of known words, and the words of English
heads()
network()
assertions()
