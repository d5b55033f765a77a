"""The status line: what must never be out of sight comes first; the rest is shown as the width allows."""

from dataclasses import dataclass

from console.viewmodels.alerts import pressing
from console.viewmodels.board import counts
from console.viewmodels.cells import ALARM, BOLD, DIM, OK, PLAIN, WARN, Line, Piece
from console.viewmodels.rows import Snapshot
from console.viewmodels.times import clock, zone_word
from console.words import inert

STALE_AFTER_S = 3.0
DEMO, NARROW = "◆ DEMO·TRAINING", 48


@dataclass(frozen=True, slots=True)
class Health:
    """``age_s``: since the last good read; None before the first. ``broken``: a thread behind the desk failed."""

    age_s: float | None
    broken: bool = False


def mode(snap: Snapshot | None, health: Health) -> Piece:
    """How alive the screen is, in a word."""
    if snap is None or health.age_s is None:
        return "○ STARTING", DIM
    if health.broken or health.age_s > STALE_AFTER_S:
        return "× STALE", ALARM
    if snap.site.readonly:
        return "□ READ-ONLY", WARN
    if snap.site.demo:
        return DEMO, WARN
    if snap.site.training:
        return "◆ TRAINING", WARN
    return "● LIVE", OK


def line(snap: Snapshot | None, health: Health, width: int, now_ms: int) -> Line:
    """The pieces in their order on the line; those of lesser rank are left out where they do not fit."""
    if snap is None:
        return (mode(snap, health), ("  opening the database", DIM))
    chosen: set[int] = set()
    parts = _parts(snap, health, now_ms)
    if width < NARROW:
        parts = _narrow(snap, parts, now_ms)
    room = width
    for at, (_, text, _look) in sorted(enumerate(parts), key=lambda each: each[1][0]):
        need = len(text) + (2 if chosen else 0)
        if need <= room:
            chosen.add(at)
            room -= need
    pieces: list[Piece] = []
    for at in sorted(chosen):
        pieces.append(("  " if pieces else "", PLAIN))
        pieces.append((parts[at][1], parts[at][2]))
    return tuple(pieces)


def trouble(snap: Snapshot) -> tuple[bool, bool]:
    """Whether the router is in trouble, and whether this desk does not dispatch. On a training site that is no demo
    nobody does, and a site without a router has none."""
    plain_training = snap.site.training and not snap.site.demo
    return snap.router not in ("ok", "none"), snap.rounds != "here" and not plain_training


def _narrow(snap: Snapshot, parts: list[tuple[int, str, str]], now_ms: int) -> list[tuple[int, str, str]]:
    """In fewer letters, so that the clock keeps its place, beside trouble too."""
    short = {DEMO: "◆ DEMO"}
    if any(trouble(snap)):
        new = pressing(snap.alerts, now_ms)
        short |= {_clock(snap, now_ms): clock(now_ms, snap.site.zone), _alerts(new): f"▲{new}"}
    return [(rank, short.get(text, text), look) for rank, text, look in parts]


def _clock(snap: Snapshot, now_ms: int) -> str:
    return f"{clock(now_ms, snap.site.zone)} {zone_word(now_ms, snap.site.zone)}"


def _alerts(new: int) -> str:
    return f"▲{new} alerts" if new != 1 else "▲1 alert"


def _parts(snap: Snapshot, health: Health, now_ms: int) -> list[tuple[int, str, str]]:
    """(rank, text, look), in their order on the line; rank 0 is never left out."""
    jobs, waiting, offered = counts(snap.jobs.values())
    new = pressing(snap.alerts, now_ms)
    word, look = mode(snap, health)
    p99 = "–" if snap.p99_us is None else f"{max(1, snap.p99_us // 1000)}ms"
    age = health.age_s or 0.0
    off_road, off_duty = trouble(snap)  # told before any count
    stale = age > STALE_AFTER_S
    return [
        (0, word, look),
        (6, inert(snap.site.name)[:24], BOLD),
        (1, _clock(snap, now_ms), PLAIN),
        (9, f"{inert(snap.site.actor)[:16]}·{snap.site.role}", DIM),
        (5, f"jobs {jobs}", PLAIN),
        (3, f"open {waiting}", PLAIN),
        (4, f"offered {offered}", PLAIN),
        (0, _alerts(new), ALARM if new else DIM),
        (0 if off_road else 7, f"router {snap.router}", WARN if off_road else PLAIN),
        (0 if off_duty else 8, f"auto {snap.rounds}", WARN if snap.rounds == "nobody" else PLAIN if off_duty else DIM),
        (10, f"p99 {p99}", DIM),
        (0 if stale else 2, f"data {age:.1f}s" if age < 10 else f"data {age:.0f}s", ALARM if stale else DIM),
    ]
