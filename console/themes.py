"""Dark, light, and a palette that colour-blind people tell apart: Okabe and Ito, the vermilion a shade lighter, to be
read on a selected row. Glyphs and words tell the same."""

from textual.theme import Theme

OKABE_ITO = Theme(
    name="callboard-okabe-ito", dark=True, primary="#56B4E9", secondary="#CC79A7", accent="#F0E442", warning="#E69F00",
    error="#E0691A", success="#009E73", background="#0d1116", surface="#11161d", panel="#1a222c", foreground="#d8dee6",
)  # fmt: skip
DARK = Theme(
    name="callboard-dark", dark=True, primary="#6cb2eb", secondary="#9aa8ff", accent="#e0b354", warning="#f0a92e",
    error="#ff7b54", success="#6fcf97", background="#0d1116", surface="#11161d", panel="#1a222c", foreground="#d8dee6",
)  # fmt: skip
LIGHT = Theme(
    name="callboard-light", dark=False, primary="#0b5c99", secondary="#6b3fa0", accent="#7a5200", warning="#8a4b00",
    error="#a3260a", success="#00694a", background="#f4f5f7", surface="#ffffff", panel="#e4e8ee", foreground="#1b2430",
)  # fmt: skip
THEMES = (DARK, LIGHT, OKABE_ITO)
