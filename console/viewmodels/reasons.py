"""Reason codes in words, wherever they stand in a sentence of the engine's. Pure."""

import re

from engine.rules.nouns import Refusal

NOT_TIMED = "not_timed"
CODES = re.compile(rf"\b(?:{'|'.join(each for each in (*Refusal, NOT_TIMED) if '_' in each)})\b")


def in_words(text: str) -> str:
    """ "5 no_road, 2 off_shift" as "5 no road, 2 off shift"; what people wrote is as they wrote it."""
    return CODES.sub(lambda found: found[0].replace("_", " "), text)
