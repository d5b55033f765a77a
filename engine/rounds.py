"""APScheduler only rings: each round on its own interval, missed ticks coalesced into one, never two at once."""

import gc
import logging
import os
import platform
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol, cast

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MISSED, JobExecutionEvent  # type: ignore[import-untyped]
from apscheduler.schedulers.background import BackgroundScheduler  # type: ignore[import-untyped]

from engine.ports import Busy, CallboardError, Engine, Forbidden
from engine.rules.nouns import Actor, Role
from engine.verbs import region
from engine.verbs.sweep import ROUNDS, Desk, Round

log = logging.getLogger("callboard.rounds")
SWITCH_S = 0.0005
"""A computing thread lets the others in after so long. With Python's 5 ms an accept, which asks for its turn at each of
some twenty statements, may wait 5 ms for each of them while fixes are taken or written."""
LONG = frozenset({"retry", "watch", "retain", "write behind", "catch up"})
"""Rounds that may take seconds in a big city. They ring beside the others (never twice at once): an expiry within a
second of its time, and the region's lease, wait for none of them."""
LATE_SAID_S = 1.0
STEP_S = 1.0


def holder_name() -> str:
    """This process, told apart from one of the same number before it by a random part."""
    return f"{platform.node()}:{os.getpid()}:{os.urandom(3).hex()}"


class _Scheduler(Protocol):
    """What is used of APScheduler, which has no types."""

    @property
    def running(self) -> bool: ...
    def add_listener(self, callback: Callable[[JobExecutionEvent], None], mask: int) -> None: ...
    def add_job(self, func: Callable[[], object], trigger: str, **named: object) -> object: ...
    def modify_job(self, job_id: str, *, next_run_time: datetime) -> object: ...
    def start(self) -> None: ...
    def shutdown(self, wait: bool) -> None: ...


class Rounds:
    """The rounds of one running engine. It takes every region that is free, and stands by for the others.

    ``training``: whoever starts them moves the training clock too (the demo does). Raises Forbidden otherwise."""

    def __init__(self, engine: Engine, *, said: Callable[[str], None] = log.info, training: bool = False) -> None:
        if engine.store.training and not training:
            raise Forbidden(
                f"{engine.store.path} is a training database: its clock stands until a trainer moves it, so a live "
                "engine would wait for ever for what is due; ring its rounds by hand (`run.py sweep`), or rehearse"
            )
        self.desk = Desk(engine=engine, holder=holder_name())
        self._said = said
        self._turn = threading.Lock()
        self._over = threading.Event()
        scheduler = BackgroundScheduler(
            timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        self._scheduler = cast(_Scheduler, scheduler)
        self._scheduler.add_listener(self._trouble, EVENT_JOB_ERROR | EVENT_JOB_MISSED)

    def start(self) -> None:
        """Take the free regions and begin to ring."""
        # A full collection walks every presence and costs a search ten times its own time: what is here now stays.
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        sys.setswitchinterval(SWITCH_S)
        self.take_free()
        settings = self.desk.engine.settings
        self._scheduler.add_job(self.take_free, "interval", seconds=settings.rounds.renew_s, id="stand by")
        for each in ROUNDS:
            self._scheduler.add_job(partial(self._ring, each), "interval", seconds=each.every_s(settings), id=each.name)
        self._scheduler.start()
        threading.Thread(target=self._keep_time, name="keep time", daemon=True).start()

    def stop(self) -> None:
        """Ring no more, write what waits, and give the regions back."""
        self._over.set()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)
        for each in ROUNDS:
            if each.name == "write behind":
                each.ring(self.desk)
        region.resign(self.desk.engine, self.desk.holder)

    def _keep_time(self) -> None:
        """The scheduler plans by the wall clock: set back an hour, that would let nothing ring for an hour."""
        ahead_s = time.time() - time.monotonic()
        while not self._over.wait(1):
            was_s, ahead_s = ahead_s, time.time() - time.monotonic()
            if abs(ahead_s - was_s) > STEP_S:
                for name in ("stand by", *(each.name for each in ROUNDS)):
                    self._scheduler.modify_job(name, next_run_time=datetime.now(UTC))

    def take_free(self) -> None:
        """Take what is free; what another one holds is looked at again when its lease ends, not a whole tick later."""
        engine = self.desk.engine
        now_ms = engine.store.clock(engine.tenant).now_ms
        for each in engine.store.regions(engine.tenant):
            if each.id in engine.tenures:
                continue
            if each.holder is not None and each.lease_until_ms > now_ms:
                self._look_again(each.lease_until_ms - now_ms)
                continue
            actor = Actor(name=f"auto:{each.id}", role=Role.AUTOMATIC, tenant=engine.tenant)
            try:
                with self._turn:
                    tenure = region.takeover(engine, actor, each.id, self.desk.holder)
            except Busy:
                continue
            after = f", taken over from {each.holder}, who went silent" if each.holder is not None else ""
            self._said(f"dispatching region {each.id} under epoch {tenure.epoch}{after}")

    def _look_again(self, after_ms: int) -> None:
        """Once, when the lease of whoever holds it ends; a holder that lives has renewed it by then."""
        if after_ms < self.desk.engine.settings.rounds.renew_s * 1000 and self._scheduler.running:
            at = datetime.now(UTC) + timedelta(milliseconds=after_ms + 1)
            self._scheduler.add_job(self.take_free, "date", run_date=at, id="at its end", replace_existing=True)

    def _ring(self, each: Round) -> None:
        if each.held and not self.desk.engine.tenures:
            return
        since, every_s = time.monotonic(), each.every_s(self.desk.engine.settings)
        with nullcontext() if each.name in LONG else self._turn:
            try:
                done = each.ring(self.desk)
            except CallboardError as error:
                self._said(f"{each.name}: {error}")
                return
        late_s = time.monotonic() - since - every_s
        if late_s > LATE_SAID_S:
            self._said(f"round {each.name} {late_s:.0f} s late: its ticks meanwhile were left out")
        if each.name == "renew" and done:
            self._said("fenced: another dispatcher holds the region; this one stands by")

    def _trouble(self, event: JobExecutionEvent) -> None:
        error = cast(BaseException | None, getattr(event, "exception", None))  # a missed event has none
        name = cast(str, getattr(event, "job_id", "?"))
        if error is not None:
            log.error("round %s failed", name, exc_info=error)
            self._said(f"round {name} failed: {error}")
        else:
            self._said(f"round {name} was late and ran once")
