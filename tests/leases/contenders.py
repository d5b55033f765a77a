"""Every lease program, all aimed at the same job, worker and offer, so that any two of them are rivals."""

from collections.abc import Callable

from engine import leases, records
from engine.program import Program
from engine.rules.nouns import Interval
from tests.leases import stage
from tests.leases.stage import ANA, AUTO, MAIN, MIN_MS, NOON_MS, WHY, lease, worker_named

Contender = Callable[[str], Program[object]]
"""Given a name of its own (two of a kind must not use one offer id), the program."""


STAGES = ("open", "offered", "accepted", "started")

CONTENDERS: dict[str, Contender] = {
    "offer": lambda name: stage.offer(f"o-{name}", "j1", "w1"),
    "offer other worker": lambda name: stage.offer(f"o-{name}", "j1", "w2"),
    "offer other job": lambda name: stage.offer(f"o-{name}", "j3", "w1", starts_min=120),
    "accept": lambda name: stage.accept("o1", "w1"),
    "decline": lambda name: stage.decline("o1", "w1"),
    "expire": lambda name: stage.expire("o1"),
    "withdraw": lambda name: leases.withdraw(ANA, "o1", WHY),
    "start": lambda name: leases.start(worker_named("w1"), "j1", "o1", "w1"),
    "finish": lambda name: leases.finish(worker_named("w1"), "j1", "o1", "w1"),
    "release": lambda name: leases.release(ANA, "j1", "o1", WHY),
    "reassign": lambda name: leases.reassign(ANA, MAIN, "j1", "o1", WHY, lease(f"o-{name}", "j1", "w2")),
    "cancel": lambda name: leases.cancel(ANA, "j1", "", WHY),
    "cancel held": lambda name: leases.cancel(ANA, "j1", "o1", WHY),
    "preempt": lambda name: leases.preempt(ANA, MAIN, "j1", "o1", lease(f"o-{name}", "j2", "w1"), WHY),
    "override": lambda name: stage.override(f"o-{name}", "j1", "w2", force=False),
    "override forced": lambda name: stage.override(f"o-{name}", "j1", "w1", force=True),
    "takeover": lambda name: stage.takeover(0, name),
    "takeover adopting": lambda name: stage.takeover(0, name, adopt=True),
    "handoff": lambda name: leases.handoff(ANA, "w1", "north", 1, WHY),
    "alert": lambda name: leases.alert(AUTO, MAIN, "j1", 1, stage.nobody("j1")),
}

HANDOFFS: dict[str, Contender] = {
    "take back handoff": lambda name: leases.take_back_handoff(ANA, "w1", "north", 1, WHY),
    "handoff asked": lambda name: leases.handoff(AUTO, "w1", "north", 1, fence=MAIN, asked=True),
}
"""Rivals only where a handoff was asked while an offer stands (the stage "asked")."""

ABSENCES: dict[str, Contender] = {
    "absent": lambda name: records.set_absence(
        ANA, "w1", Interval(starts_ms=NOON_MS, ends_ms=NOON_MS + MIN_MS * 60), ""
    ),
}
"""Binds nobody and lets nobody go: a rival only of those who promise that time."""
