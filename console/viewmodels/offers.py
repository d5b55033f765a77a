"""Live offers as countdown bars from absolute deadlines: symbol, word and colour."""

from console.viewmodels.cells import ALARM, BAR, DIM, PLAIN, WARN, Line, bar, fit
from console.viewmodels.rows import OfferRow
from console.viewmodels.times import countdown, hm

HURRY_MS = 10_000


def line(row: OfferRow, width: int, now_ms: int, zone: str) -> Line:
    left_ms = row.expires_ms - now_ms
    over = left_ms <= 0 or row.created_ms > now_ms
    mark, word, look = ("x", "LAPSED", ALARM) if over else ("!", countdown(left_ms), WARN) if left_ms < HURRY_MS else (
        ">", countdown(left_ms), BAR)  # fmt: skip
    band = f"{hm(row.band_from_ms, zone)}–{hm(row.band_to_ms, zone)} {row.confidence}" if width >= 56 else ""
    job, names = 9, max(8, min(20, width // 3))
    bars = max(4, width - 4 - job - names - 7 - (len(band) + 1 if band else 0))
    pieces = [
        (f"{mark} ", look),
        (fit(row.job_id, job) + " ", PLAIN),
        (fit(row.worker, names) + " ", PLAIN),
        (fit(bar(0 if over else left_ms, row.expires_ms - row.created_ms, bars), bars), look),
        (fit(word, 7, right=True), look),
    ]
    if band:
        pieces.append((" " + band, DIM))
    return tuple(pieces)
