"""What a dispatcher who always sends whoever is there first would keep of a day: the bar that `replay` is held to.

Our own computation, without the engine: same files, same stand-in speed, jobs known 60 min before their window, offers
accepted after 5 s, waiting jobs least slack first. A job may go between two bookings if the later one stays in reach.

    python -m benchmarks.baseline jobs.csv workers.csv
"""

import csv
import heapq
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path

EARTH_M, DETOUR, SPEED_M_S = 6_371_008.8, 1.4, 30 / 3.6
KNOWN_AHEAD_S, ACCEPT_S, RETRY_S = 3600, 5, 60

Place = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A job; instants in seconds of the epoch."""

    id: str
    skills: frozenset[str]
    place: Place
    opens_s: int
    due_s: int
    length_s: int
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A booking: where the worker comes from, when they leave, and when the service runs."""

    work: Work
    origin: Place
    leaves_s: int
    starts_s: int
    ends_s: int


@dataclass(slots=True, kw_only=True)
class Hand:
    """A worker and their bookings in order; ``asked``: an offer is open."""

    id: str
    skills: frozenset[str]
    home: Place
    shift_s: tuple[int, int]
    held: list[Held] = field(default_factory=list[Held])
    asked: bool = False


@cache
def drive_s(a: Place, b: Place) -> int:
    """Great circle x 1.4 at 30 km/h, rounded up."""
    lat_a, lat_b = math.radians(a[0]), math.radians(b[0])
    half_lng = math.radians(b[1] - a[1]) / 2
    h = math.sin((lat_b - lat_a) / 2) ** 2 + math.cos(lat_a) * math.cos(lat_b) * math.sin(half_lng) ** 2
    return math.ceil(2 * EARTH_M * math.asin(math.sqrt(h)) * DETOUR / SPEED_M_S - 1e-9)


def kept(jobs: Path, workers: Path) -> int:
    """How many jobs of the day are reached by due_by."""
    coming = [(work.opens_s - KNOWN_AHEAD_S, n, work) for n, work in enumerate(_works(jobs))]
    heapq.heapify(coming)
    hands, waiting = list(_hands(workers)), list[Work]()
    answers: list[tuple[int, int, Hand, Held]] = []
    ends_s, now_s, asked = max(work.due_s for _, _, work in coming), 0, 0
    while now_s <= ends_s:
        now_s = min(
            [
                *(each[0] for each in coming[:1]),
                *(each[0] for each in answers[:1]),
                *([now_s + RETRY_S] if waiting else [ends_s + 1]),
            ]
        )
        while answers and answers[0][0] <= now_s:
            _, _, hand, held = heapq.heappop(answers)
            _book(hand, held)
        while coming and coming[0][0] <= now_s:
            waiting.append(heapq.heappop(coming)[2])
        waiting = sorted((work for work in waiting if now_s <= work.due_s), key=lambda w: (w.due_s, -w.priority, w.id))
        for work in list(waiting):
            first = min(_arrivals(hands, work, now_s), default=None, key=lambda each: each[:2])
            if first is not None:
                _, n, held = first
                hands[n].asked, asked = True, asked + 1
                heapq.heappush(answers, (now_s + ACCEPT_S, asked, hands[n], held))
                waiting.remove(work)
    return sum(_on_time(hand) for hand in hands)


def _arrivals(hands: Sequence[Hand], work: Work, now_s: int) -> Iterator[tuple[int, int, Held]]:
    """(arrival, worker, booking) of everyone who may have it, each at their earliest."""
    for n, hand in enumerate(hands):
        if work.skills <= hand.skills and not hand.asked:
            yield from ((arrives_s, n, held) for arrives_s, held in _slots(hand, work, now_s))


def _slots(hand: Hand, work: Work, now_s: int) -> Iterator[tuple[int, Held]]:
    ahead = [held for held in hand.held if held.starts_s > now_s]
    free_s, place = _free(hand, ahead, now_s)
    for before in (*ahead, None):
        arrives_s = free_s + drive_s(place, work.place)
        starts_s = max(arrives_s, work.opens_s)
        ends_s = starts_s + work.length_s
        fits = before is None or ends_s + drive_s(work.place, before.work.place) <= before.starts_s
        if fits and arrives_s <= work.due_s and ends_s <= hand.shift_s[1]:
            yield arrives_s, Held(work=work, origin=place, leaves_s=free_s, starts_s=starts_s, ends_s=ends_s)
        if before is not None:
            free_s, place = before.ends_s, before.work.place


def _free(hand: Hand, ahead: Sequence[Held], now_s: int) -> tuple[int, Place]:
    """When and where the worker's first gap begins: at work, on the road to the next booking, or idle."""
    begun = hand.held[: len(hand.held) - len(ahead)]
    if begun and begun[-1].ends_s > now_s:
        return begun[-1].ends_s, begun[-1].work.place
    place = begun[-1].work.place if begun else hand.home
    if ahead and ahead[0].leaves_s < now_s:
        origin, to = ahead[0].origin, ahead[0].work.place
        share = min(1.0, (now_s - ahead[0].leaves_s) / max(1, drive_s(origin, to)))
        place = (origin[0] + (to[0] - origin[0]) * share, origin[1] + (to[1] - origin[1]) * share)
    return max(now_s, hand.shift_s[0]), place


def _book(hand: Hand, held: Held) -> None:
    """Accepted: the booking after it now begins from here."""
    hand.asked = False
    at = sum(each.starts_s < held.starts_s for each in hand.held)
    hand.held.insert(at, held)
    if at + 1 < len(hand.held):
        after = hand.held[at + 1]
        hand.held[at + 1] = Held(work=after.work, origin=held.work.place, leaves_s=held.ends_s, starts_s=after.starts_s,
                                 ends_s=after.ends_s)  # fmt: skip


def _on_time(hand: Hand) -> int:
    """Drive the day as booked, each drive begun as soon as the job before it is done."""
    now_s, place, done = hand.shift_s[0], hand.home, 0
    for held in hand.held:
        arrives_s = max(now_s, held.leaves_s) + drive_s(place, held.work.place)
        done += arrives_s <= held.work.due_s
        now_s, place = max(arrives_s, held.work.opens_s) + held.work.length_s, held.work.place
    return done


def _works(path: Path) -> Iterator[Work]:
    for row in csv.DictReader(path.read_text("utf-8").splitlines()):
        yield Work(
            id=row["id"],
            skills=frozenset(row["skills"].split(";")),
            place=(float(row["lat"]), float(row["lng"])),
            opens_s=_instant(row["not_before"]),
            due_s=_instant(row["due_by"]),
            length_s=int(row["duration_min"]) * 60,
            priority=int(row["priority"]),
        )


def _hands(path: Path) -> Iterator[Hand]:
    for row in csv.DictReader(path.read_text("utf-8").splitlines()):
        yield Hand(
            id=row["id"],
            skills=frozenset(row["skills"].split(";")),
            home=(float(row["lat"]), float(row["lng"])),
            shift_s=(_instant(row["shift_start"]), _instant(row["shift_end"])),
        )


def _instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


if __name__ == "__main__":
    print(kept(Path(sys.argv[1]), Path(sys.argv[2])))
