"""Instants and spans in a dispatcher's words. Instants are shown in the site's zone; deadlines count down."""

from engine.rules.days import local

MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000


def clock(at_ms: int, zone: str) -> str:
    """14:02:31"""
    return local(at_ms, zone).strftime("%H:%M:%S")


def zone_word(at_ms: int, zone: str) -> str:
    """CET; where a zone has no letters, its offset: UTC+03."""
    name = local(at_ms, zone).tzname() or zone
    return f"UTC{name}" if name[:1] in "+-" else name


def hm(at_ms: int, zone: str) -> str:
    """14:40"""
    return local(at_ms, zone).strftime("%H:%M")


def day_hm(at_ms: int, now_ms: int, zone: str) -> str:
    """14:40 today, `Tue 14:40` within a week, `12 Mar 14:40` farther off."""
    at, now = local(at_ms, zone), local(now_ms, zone)
    if at.date() == now.date():
        return at.strftime("%H:%M")
    near = abs(at_ms - now_ms) < 6 * DAY_MS
    return at.strftime("%a %H:%M" if near else "%d %b %H:%M")


def span(ms: int) -> str:
    """14s, 9m, 1h05, 3d"""
    ms = abs(ms)
    if ms < MINUTE_MS:
        return f"{ms // 1000}s"
    if ms < HOUR_MS:
        return f"{ms // MINUTE_MS}m"
    if ms < DAY_MS:
        return f"{ms // HOUR_MS}h{ms % HOUR_MS // MINUTE_MS:02}"
    return f"{ms // DAY_MS}d"


def left(ms: int) -> str:
    """Time to a deadline with its sign: +9m before it, −3m after it."""
    return f"{'+' if ms >= 0 else '−'}{span(ms)}"


def countdown(ms: int) -> str:
    """0:14 of a live offer, rounded up: 0:00 is shown only when it is over."""
    seconds = max(0, -(-ms // 1000))
    return f"{seconds // 60}:{seconds % 60:02}"
