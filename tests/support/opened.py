"""What every process of a test would read again: read once, in the process from which they are forked."""

from __future__ import annotations

import gc

from graphs.triage.emergency import by_numbers, by_words
from tools.encoders import minilm_weights
from tools.medicines.checks import check
from tools.reading.assertion import weights as assertions
from tools.reading.messages import heads
from tools.reading.replacing import network
from tools.spelling import mended

mended("an unheardofword")  # lists of known words, and the words of English
check("Can I take ibuprofen with an antibiotic?", "I am 70 and pregnant.")  # their records and patterns, as the next
by_words("I have a cough.", "en"), by_numbers("My blood pressure is 120/80.", "en")
minilm_weights()  # held to their checksum
heads()
network()
assertions()
gc.freeze()  # a process that is forked has it to the end
