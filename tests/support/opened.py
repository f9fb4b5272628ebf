"""What every process of a test would read again: read once, in the process from which they are forked."""

from __future__ import annotations

import gc

from tools.reading.assertion import weights as assertions
from tools.reading.messages import heads
from tools.reading.replacing import network
from tools.spelling import mended

mended("an unheardofword")  # lists of known words, and the words of English
heads()
network()
assertions()
gc.freeze()  # a process that is forked has it to the end
