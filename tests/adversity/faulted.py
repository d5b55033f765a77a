"""Lives on a failing disk or under a stepping clock: run with faulty.c loaded before the C library."""

import ctypes
import errno
import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import engine.rounds
from engine import wiring
from engine.ports import Busy, Engine
from engine.rounds import Rounds
from engine.rules.nouns import Actor, FixReport, Role
from engine.verbs import answer, ingest, sweep
from engine.verbs.assign import assign
from engine.verbs.site import SiteFile
from tests.adversity.dispatcher import counted, until
from tests.adversity.ground import add_fix
from tests.desk import MIDDLE, person

LIBRARY = ctypes.CDLL(None)


def step_clock(wall_ms: int, boot_ms: int) -> None:
    LIBRARY.faulty_step(ctypes.c_long(wall_ms), ctypes.c_long(boot_ms))


def arm(number: int, error: int, *, lasting: bool) -> None:
    LIBRARY.faulty_arm(ctypes.c_long(number), ctypes.c_int(error), ctypes.c_int(lasting))


def disarm() -> int:
    return int(LIBRARY.faulty_disarm())


def _assign(engine: Engine) -> str:
    return assign(engine, person(), "J1").outcome


def _accept(engine: Engine) -> str:
    [offer] = engine.store.offers_of_job("main", "J1")
    who = Actor(name=offer.worker_id, role=Role.WORKER)
    return answer.accept(engine, who, offer.id, offer.worker_id).outcome


ACTS: dict[str, Callable[[Engine], str]] = {"assign": _assign, "accept": _accept}


def opened(path: str) -> Engine:
    engine = wiring.open_engine(Path(path), new_id=wiring.seeded_ids(os.getpid()))
    now_ms = engine.store.clock("main").now_ms
    fix = FixReport(worker="ana", device_ms=now_ms, lat=MIDDLE.lat, lng=MIDDLE.lng, accuracy_m=5)
    ingest.report(engine, [fix], received_ms=now_ms, archive=[])
    return engine


def attempt(engine: Engine, act: str) -> str:
    """The outcome, or "busy"; any other error ends the life with a traceback."""
    try:
        return str(ACTS[act](engine))
    except Busy:
        return "busy"


def can_fail(path: str) -> bool:
    """Whether what is loaded reaches SQLite's writes here (it would not if SQLite spoke to the kernel by itself)."""
    engine = opened(path)
    arm(1, errno.EIO, lasting=True)
    attempt(engine, "assign")
    return disarm() > 0


def act(path: str, what: str, number: int, error: int, lasting: bool, told: str, dies: bool) -> dict[str, object]:
    """Act once while the n-th write or sync fails, look at the board meanwhile, then die or act again on a good disk.

    ``told``: a file for what the first attempt said, should the life end there."""
    engine = opened(path)
    arm(number, error, lasting=lasting)
    first = attempt(engine, what)
    still_read = len(engine.store.jobs("main"))
    failed = disarm()
    Path(told).write_text(json.dumps({"first": first, "failed": failed}))
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    second = attempt(engine, what)
    wiring.close(engine)
    return {"first": first, "failed": failed, "second": second, "read": still_read}


def again(path: str, what: str) -> str:
    """The same act in a new process."""
    engine = opened(path)
    second = attempt(engine, what)
    wiring.close(engine)
    return second


DEATH = -1


def _begin(engine: Engine) -> str:
    return answer.start(engine, person("ana", Role.WORKER), "J1", "ana").outcome


def _checkpoint(engine: Engine) -> str:
    engine.store.checkpoint()
    return "done"


def through(path: str, told: str, number: int) -> int:
    """Offer, accept, move the log into the file, begin: each told when it is acknowledged. Dies at the n-th write or
    sync; answers 0 when there was none left to die at."""
    LIBRARY.faulty_keep()
    engine = opened(path)
    arm(number, DEATH, lasting=False)
    heard = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for name, step in {"offer": _assign, "accept": _accept, "checkpoint": _checkpoint, "start": _begin}.items():
        step(engine)
        os.write(heard, f"{name}\n".encode())
    return disarm()


def create(path: str, number: int) -> int:
    """Found a site, and die at the n-th write or sync of its files. Answers 0 when there was none left to die at."""
    LIBRARY.faulty_keep()
    arm(number, DEATH, lasting=False)
    wiring.create(Path(path), SiteFile(), training=True)
    return disarm()


# --- the clock -------------------------------------------------------------------------------------------------------


def stepped(path: str, wall_ms: int, boot_ms: int) -> dict[str, object]:
    """A live engine with its rounds running, an offer standing and a worker heard of; then the clocks step.

    Answers, after the rounds have seen it: the offer's end, how often each round rang between the step and the first
    expiry round after it, the ages of the worker's fix, and the alerts."""
    rung: Counter[str] = Counter()
    engine.rounds.ROUNDS = tuple(counted(each, rung) for each in sweep.ROUNDS)
    desk = wiring.open_engine(Path(path))
    add_fix(desk, "ana")
    said: list[str] = []
    rounds = Rounds(desk, said=said.append)
    rounds.start()
    until(
        lambda: len(desk.store.live_offers("main")) == 1 and rung["clock"] > 1, "an offer stands and the clock is known"
    )
    [offer] = desk.store.live_offers("main")
    before = Counter(rung)
    step_clock(wall_ms, boot_ms)
    until(
        lambda: rung["expire"] > before["expire"] and rung["watch"] > before["watch"], "the rounds ring after the step"
    )
    until(lambda: offer.id not in {each.id for each in desk.store.live_offers("main")}, "the offer ends")
    at_once = rung - before
    until(lambda: rung["clock"] >= before["clock"] + 3 and rung["watch"] >= before["watch"] + 2, "some more rounds")
    seen = desk.index.seen("main", "ana", MIDDLE, mono_ms=desk.mono_ms())
    facts = desk.store.offer("main", offer.id)
    assert facts is not None
    told = {
        "state": facts.offer.state,
        "ends": [each.act for each in desk.store.audit("main") if each.offer_id == offer.id],
        "rung": dict(at_once),
        "age_ms": None if seen is None else max(seen.device_age_ms, seen.receive_age_ms),
        "alerts": [each.kind for each in desk.store.alerts("main")],
        "held": list(desk.tenures),
        "said": said,
    }
    rounds.stop()
    wiring.close(desk)
    return told
