"""The figures of SPEC 12 as lines: each with its limit in words, and a small plot where there is a history. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len

from console.viewmodels.cells import ACCENT, ALERT, BOLD, DIM, HEAD, PLAIN, WARN, Line, bar, fit
from console.words import inert

BLOCKS = "▁▂▃▄▅▆▇█"
NAME = 18
STEP_MIN, STEPS = 5, 24
STAGES = ("index", "facts", "filter", "road", "lease")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is alarmed above, over which spans; see the [alert] and [target] settings of the same names."""

    expiry_rate: float
    router_timeout_rate: float
    stale_rate: float
    top_decile_share: float
    rate_from: int
    expiry_span_min: int
    router_span_min: int
    decision_p99_ms: int
    availability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """By this process since it began. ``_us`` microseconds, None where nothing was measured yet.

    ``stages_us``: the median of each stage of a decision; ``asked``: (times asked, times failed) by act; ``lag``: from
    the phone to here."""

    decision_p50_us: int | None
    decision_p99_us: int | None
    decisions: int
    stages_us: Mapping[str, int]
    asked: Mapping[str, tuple[int, int]]
    fixes: Mapping[str, int]
    fixes_a_minute: int
    lag_p50_us: int | None
    lag_p99_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresRow:
    """One look. The histories are counts of 5 minutes each, the newest last; ``truncated``: the audit read did not
    reach back over all of them. ``followed``: how many offers of late went to whom the engine chose."""

    since_min: int
    here: Measured
    counts: Mapping[str, int]
    due_today: int
    missed_today: int
    assign_p50_ms: int | None
    assign_p90_ms: int | None
    offers_lately: Mapping[str, int]
    confidence: Mapping[str, int]
    router: str
    router_calls: int
    router_timeouts: int
    router_failures: int
    on_shift: int
    fresh: int
    stale: int
    silent: int
    busy: int
    top_decile_share: float | None
    gini: float
    jobs_by_worker: tuple[int, ...]
    alerts_10_min: int
    alert_budget: int
    overrides: Mapping[str, int]
    followed: int
    histories: Mapping[str, tuple[int, ...]]
    truncated: bool
    limits: Limits


Section = tuple[str, list[Line]]


def sections(row: FiguresRow, width: int) -> list[Section]:
    return [
        ("Deciding", _deciding(row.here, row.limits.decision_p99_ms)),
        ("Offers", _offers(row, width)),
        ("Jobs", _jobs(row, width)),
        ("Workers", _workers(row, width)),
        ("Alerts", _alerts(row, width)),
        ("Router", _router(row)),
        ("Suggestions and overrides", _overridden(row, width)),
        ("Answered, since this desk started", _answered(row.here, row.limits.availability)),
        ("Positions, since this desk started", _positions(row.here, width)),
    ]


def columns(found: list[Section], width: int) -> tuple[list[Line], list[Line]]:
    """Side by side where there is room: the second column begins where the first has reached half."""
    blank: Line = ((" ", PLAIN),)
    blocks: list[list[Line]] = [[((title, HEAD),), *lines, blank] for title, lines in found]
    if width < 100:
        return [line for block in blocks for line in block], []
    half, left, right = sum(map(len, blocks)) / 2, list[Line](), list[Line]()
    for block in blocks:
        (left if len(left) + len(block) / 2 <= half and not right else right).extend(block)
    return left, right


def _one(name: str, value: str, *more: tuple[str, str], look: str = BOLD) -> Line:
    gap = ((" ", PLAIN),) if more else ()
    return ((f" {fit(name, NAME)} ", PLAIN), (value, look), *gap, *more)


def _deciding(here: Measured, limit_ms: int) -> list[Line]:
    if here.decision_p99_us is None or here.decision_p50_us is None:
        return [_one("latency", "–", (" no decision made here yet", DIM), look=DIM)]
    p99_ms = here.decision_p99_us / 1000
    over = p99_ms >= limit_ms
    limit = (f" above the limit of {limit_ms} ms" if over else f" of {limit_ms} ms allowed", WARN if over else DIM)
    return [
        _one("latency p50", f"{here.decision_p50_us / 1000:.1f} ms", (f" of {here.decisions} decisions", DIM)),
        _one("latency p99", f"{p99_ms:.1f} ms", limit),
        *_stages(here.stages_us),
    ]


def _stages(took_us: Mapping[str, int]) -> list[Line]:
    most = max(took_us.values(), default=0)
    return [
        _one(f"  {name} p50", f"{took_us[name] / 1000:>5.1f} ms", (bar(took_us[name], most, 12).rstrip("▁"), ACCENT))
        for name in STAGES
        if name in took_us
    ]


def _offers(row: FiguresRow, width: int) -> list[Line]:
    total = sum(row.offers_lately.values())
    expired = row.offers_lately.get("EXPIRED", 0)
    outcomes = " · ".join(f"{n} {inert(state.lower())}" for state, n in row.offers_lately.items()) or "none"
    mix = " · ".join(f"{n} {inert(name)}" for name, n in row.confidence.items()) or "none standing"
    return [
        _one(f"in {row.limits.expiry_span_min} min", outcomes),
        _rate("expiry rate", expired, total, row.limits.expiry_rate, row.limits.rate_from),
        _one("confidence", mix),
        _plot("offered", row, width),
        _plot("accepted", row, width),
        _plot("expired", row, width),
    ]


def _jobs(row: FiguresRow, width: int) -> list[Line]:
    parts = [
        f"{n} {inert(state.removesuffix('_ALERT').replace('_', ' ').lower())}" for state, n in row.counts.items() if n
    ]
    lines: list[Line] = [((f" {' · '.join(parts[at : at + 4])}", BOLD),) for at in range(0, len(parts), 4)]
    missed = f"{row.missed_today} of {row.due_today} due so far today"
    share = f"{row.missed_today / row.due_today:.0%} " if row.due_today else "– "
    lines.append(_one("missed windows", share, (missed, DIM), look=WARN if row.missed_today else BOLD))
    if row.assign_p50_ms is None or row.assign_p90_ms is None:
        lines.append(_one("time to assign", "–", (" nothing accepted lately", DIM), look=DIM))
    else:
        lines.append(
            _one(
                "time to assign",
                f"p50 {_took(row.assign_p50_ms)} · p90 {_took(row.assign_p90_ms)}",
                (" from intake", DIM),
            )
        )
    return [*lines, _plot("created", row, width), _plot("finished", row, width)]


def _took(ms: int) -> str:
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms / 60_000:.1f} min"


def _workers(row: FiguresRow, width: int) -> list[Line]:
    heard = f"{row.fresh} fresh · {row.stale} stale · {row.silent} silent"
    used = f"{row.busy / row.on_shift:.0%}" if row.on_shift else "–"
    top = "–" if row.top_decile_share is None else f"{row.top_decile_share:.0%}"
    over = row.top_decile_share is not None and row.top_decile_share > row.limits.top_decile_share
    allowed = f" above {row.limits.top_decile_share:.0%}" if over else f" alarm above {row.limits.top_decile_share:.0%}"
    most = max(row.jobs_by_worker, default=0)
    return [
        _one("on shift", str(row.on_shift), (f" {heard}", PLAIN)),
        _rate("stale fraction", row.stale, row.on_shift, row.limits.stale_rate, row.limits.rate_from),
        _one("utilisation", used, (f" {row.busy} of them booked now", DIM)),
        _one("top tenth's share", top, (allowed, ALERT if over else DIM), look=ALERT if over else BOLD),
        _one("Gini today", f"{row.gini:.2f}", (" 0 is even, 1 is all to one", DIM)),
        _one(
            "jobs by worker", spark(row.jobs_by_worker, min(24, width - NAME - 20)), (f" most {most}", DIM), look=ACCENT
        ),
    ]


def _alerts(row: FiguresRow, width: int) -> list[Line]:
    over = row.alerts_10_min > row.alert_budget
    words = f" above the budget of {row.alert_budget}" if over else f" of a budget of {row.alert_budget}"
    return [
        _one("in 10 min", str(row.alerts_10_min), (words, WARN if over else DIM), look=WARN if over else BOLD),
        _plot("opened", row, width),
    ]


def _router(row: FiguresRow) -> list[Line]:
    if row.router == "none":
        return [_one("router", "none set", (" times are estimated", DIM))]
    rate = _rate(
        "timeout rate", row.router_timeouts, row.router_calls, row.limits.router_timeout_rate, row.limits.rate_from
    )
    calls = (
        f" {row.router_calls} calls in {row.limits.router_span_min} min, "
        f"{row.router_failures} without a believable answer"
    )
    return [_one("router", row.router, (calls, DIM), look=BOLD if row.router == "ok" else WARN), rate]


def _rate(name: str, part: int, whole: int, limit: float, rate_from: int) -> Line:
    share = part / whole if whole else 0.0
    over = whole >= rate_from and share > limit
    words = f" {part} of {whole}, {'above' if over else 'alarm above'} {limit:.0%}"
    few = f" (from {rate_from})" if whole < rate_from else ""
    return _one(
        name, f"{share:.0%}" if whole else "–", (words + few, ALERT if over else DIM), look=ALERT if over else BOLD
    )


def _overridden(row: FiguresRow, width: int) -> list[Line]:
    """How often people went another way than the engine proposed, then why."""
    against = sum(row.overrides.values())
    whole = row.followed + against
    if not whole:
        return [((" no offer lately", DIM),)]
    words = f" {row.followed} of {whole} as the engine chose"
    return [_one("suggestion taken", f"{row.followed / whole:.0%}", (words, DIM)),
            *_counted(row.overrides, "no override lately", width)]  # fmt: skip


def _answered(here: Measured, target: float) -> list[Line]:
    """Availability: a refusal by a rule is an answer, a failure is none."""
    lines: list[Line] = []
    for name, (asked, failed) in here.asked.items():
        share = 1 - failed / asked if asked else 1.0
        under = share < target
        words = f" {failed} of {asked} failed, {'under' if under else 'target'} {target:.1%}"
        told = f"{int(share * 10_000) / 100:.2f}%" if asked else "–"  # cut, not rounded: 99.996 % is not all of them
        lines.append(_one(name, told, (words if asked else " not asked of this process", ALERT if under else DIM),
                          look=ALERT if under else BOLD if asked else DIM))  # fmt: skip
    return lines


def _positions(here: Measured, width: int) -> list[Line]:
    if here.lag_p50_us is None or here.lag_p99_us is None:
        return _counted(here.fixes, "none taken in by this process", width)
    a_second = f"{here.fixes_a_minute / 60:.1f} /s"
    lag = f"p50 {_took(here.lag_p50_us // 1000)} · p99 {_took(here.lag_p99_us // 1000)}"
    return [
        _one("rate", a_second, (f" {here.fixes_a_minute} in the last minute", DIM)),
        _one("lag", lag, (" from the phone", DIM)),
        *_counted(here.fixes, "", width),
    ]


def _plot(name: str, row: FiguresRow, width: int) -> Line:
    counts = row.histories.get(name, ())
    room = max(4, min(len(counts), width - NAME - 14))
    counts = counts[-room:]
    words = f" {sum(counts)} in {room * STEP_MIN // 60} h" if room * STEP_MIN >= 60 else f" {sum(counts)} lately"
    cut = " (as far as read)" if row.truncated else ""
    return ((f" {fit(name, NAME)} ", PLAIN), (spark(counts, room), ACCENT), (words + cut, DIM))


def spark(counts: Sequence[int], room: int) -> str:
    """One column a count, the highest of them full; nothing is a low line. More counts than room are gathered."""
    if not counts or room <= 0:
        return ""
    if len(counts) > room:
        edges = [len(counts) * at // room for at in range(room + 1)]
        counts = [max(counts[start:end], default=0) for start, end in pairwise(edges)]
    top = max(counts)
    return "".join(BLOCKS[0] if each <= 0 or top <= 0 else BLOCKS[max(1, each * 7 // top)] for each in counts)


def _counted(counts: Mapping[str, int], empty: str, width: int) -> list[Line]:
    if not counts:
        return [((f" {empty}", DIM),)]
    most = max(counts.values())
    names = max(NAME, min(28, max(cell_len(inert(each)) for each in counts)))
    room = max(4, min(20, width - names - 12))
    return [
        (
            (f" {fit(name.replace('_', ' '), names)} ", PLAIN),
            (f"{n:>5} ", BOLD),
            (bar(n, most, room).rstrip("▁"), ACCENT),
        )
        for name, n in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    ]


def summary(row: FiguresRow) -> str:
    return f"Figures · histories of {STEPS * STEP_MIN // 60} h in steps of {STEP_MIN} min"
