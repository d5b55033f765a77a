"""The desk with a probe in it: `python -m benchmarks.probe live|hour FILE OUT`, run on a terminal by its bench.

Keys are put in at the driver, and a paint counts when it was handed to the terminal; numbers go to OUT, as JSON."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path

from textual import events

from benchmarks.figures import quantile
from console.app import Console
from console.behind import Behind
from console.screens.desk import Desk
from console.viewmodels.rows import ACCEPTED, OFFERED, OPEN, UNASSIGNED, AlertRow, JobRow, OfferRow, SiteFacts, Snapshot

SETTLE_S, KEY_EVERY_S, KEY_LOST_S, LAG_SLEEP_S = 3.0, 0.11, 10.0, 0.005
PAGE = 4096
STATES = (OPEN, UNASSIGNED, OFFERED, ACCEPTED)
STEP_MS = 250
EACH_STEP = 12


def rss_mb() -> float:
    """What the process holds in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


class Probed(Console):
    """``play`` runs beside the desk once it shows jobs, and the desk ends with it."""

    def __init__(self, behind: Behind, play: "Callable[[Probed], Coroutine[None, None, dict[str, float]]]") -> None:
        super().__init__(behind, ticks=behind.path.exists())
        self.play, self.told = play, dict[str, float]()
        self._painted: Callable[[], None] = lambda: None

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._play())

    async def _play(self) -> None:
        self.told = await self.play(self)
        self.exit(0)

    def post_display_hook(self) -> None:
        self._painted()

    @property
    def desk(self) -> Desk:
        assert isinstance(self.screen, Desk)
        return self.screen

    async def key_ms(self, key: str) -> tuple[float, float]:
        """From the driver to the paint that shows the cursor elsewhere: on the wall, and of this thread's processor."""
        was, seen = self.desk.board.cursor, asyncio.Event()

        def painted() -> None:
            if self.desk.board.cursor != was:
                seen.set()

        self._painted = painted
        since, cpu = time.perf_counter(), time.thread_time()
        assert self._driver is not None
        self._driver.process_message(events.Key(key, None))
        await asyncio.wait_for(seen.wait(), KEY_LOST_S)
        taken, cpu_taken = (time.perf_counter() - since) * 1000, (time.thread_time() - cpu) * 1000
        self._painted = lambda: None
        return taken, cpu_taken


async def lags_ms(lags: list[float]) -> None:
    while True:
        since = time.perf_counter()
        await asyncio.sleep(LAG_SLEEP_S)
        lags.append((time.perf_counter() - since - LAG_SLEEP_S) * 1000)


async def live(app: Probed) -> dict[str, float]:
    """The processor's share while nobody touches the desk, then keys and the lag of the loop."""
    seconds = float(os.environ["PROBE_S"])
    while not app.desk.board.order:
        await asyncio.sleep(0.02)
    await asyncio.sleep(SETTLE_S)
    cpu_s, since_s = time.process_time(), time.monotonic()
    await asyncio.sleep(seconds)
    share = (time.process_time() - cpu_s) / (time.monotonic() - since_s)
    keys: list[tuple[float, float]] = []
    lags: list[float] = []
    watching = asyncio.create_task(lags_ms(lags))
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        for key in ("down", "down", "pagedown", "down", "up"):
            await asyncio.sleep(KEY_EVERY_S)
            keys.append(await app.key_ms(key))
    watching.cancel()
    walls, cpus = [each[0] for each in keys], [each[1] for each in keys]
    return {"core": share, "key_p50_ms": quantile(walls, 0.5), "key_p95_ms": quantile(walls, 0.95),
            "key_cpu_p95_ms": quantile(cpus, 0.95), "lag_p99_ms": quantile(lags, 0.99), "rss_mb": rss_mb(),
            "keys": len(keys)}  # fmt: skip


# --- an hour in fast time -------------------------------------------------------------------------------------------


class Told(Behind):
    """A desk's back that makes its news up: a town whose jobs come, change and go."""

    def __init__(self) -> None:
        super().__init__(Path("made-up.db"), rounds=False, mono_s=lambda: 0.0)
        self.step, self.jobs = 0, {each.id: each for each in map(job_row, range(2_000))}
        self.read()

    def read(self) -> None:
        step, jobs = self.step, dict(self.jobs)
        self.step += 1
        for n in range(EACH_STEP):
            at = (step * 37 + n * 151) % 2_000 + step
            if (row := jobs.get(f"J-{at}")) is not None:
                jobs[row.id] = replace(row, state=STATES[(step + n) % 4], version=row.version + 1, worker=f"W {n}")
        jobs.pop(f"J-{step}", None)
        jobs[f"J-{2_000 + step}"] = job_row(2_000 + step)
        self.jobs = jobs
        now_ms = step * STEP_MS
        self.snap = Snapshot(
            read_s=0.0, now_ms=now_ms, site=SITE, jobs=jobs, router="ok", rounds="here", p99_us=41_000,
            alerts=tuple(alert_row(n, step) for n in range(8)), offers=tuple(offer_row(n, now_ms) for n in range(12)),
        )  # fmt: skip

    def close(self) -> None:
        """Nothing is open."""


SITE = SiteFacts(
    name="Made up", zone="UTC", training=False, readonly=False, demo=False, actor="bench", role="dispatcher"
)


def job_row(n: int) -> JobRow:
    return JobRow(
        id=f"J-{n}", type="visit", skills="care", state=STATES[n % 4], priority=1 + n % 4, not_before_ms=n * 400,
        due_by_ms=n * 500, duration_ms=1_800_000, address=f"Street {n}", notes="", attachments="{}", region="main",
        version=1,
    )  # fmt: skip


def alert_row(n: int, step: int) -> AlertRow:
    return AlertRow(id=f"A-{step // 100}-{n}", kind="unassigned", severity=1 + n % 3, job_id=f"J-{step + n}", worker="",
                    detail=f"{step} looked at", opened_ms=step * STEP_MS, acked_by="", owner="", snoozed_until_ms=0,
                    escalated=0)  # fmt: skip


def offer_row(n: int, now_ms: int) -> OfferRow:
    return OfferRow(id=f"O-{now_ms // 20_000}-{n}", job_id=f"J-{n}", worker=f"W {n}", created_ms=now_ms - 5_000,
                    expires_ms=now_ms // 20_000 * 20_000 + 20_000, band_from_ms=now_ms, band_to_ms=now_ms,
                    confidence="high")  # fmt: skip


async def hour(app: Probed) -> dict[str, float]:
    """PROBE_STEPS looks of a quarter of a second each, as fast as they can be painted."""
    steps = int(os.environ["PROBE_STEPS"])
    held: list[float] = []
    for step in range(steps):
        app.look_again()
        if step % 40 == 0:
            app.desk.board.action_step(1)
        await asyncio.sleep(0)
        if step in (steps // 4, steps - 1):
            held.append(rss_mb())
    return {"quarter_mb": held[0], "end_mb": held[-1], "steps": steps}


def main(how: str, path: str, out: str) -> int:
    behind = Behind(Path(path), rounds=False) if how == "live" else Told()
    app = Probed(behind, live if how == "live" else hour)
    app.run()
    Path(out).write_text(json.dumps(app.told))
    behind.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
