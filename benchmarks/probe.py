"""The desk with a probe in it: `python -m benchmarks.probe FILE OUT`, run on a terminal by its bench.

Keys are put in at the driver, and a paint counts when it was handed to the terminal; numbers go to OUT, as JSON."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

from textual import events

from benchmarks.figures import quantile
from benchmarks.terminal import rss_mb
from console.app import Console
from console.behind import Behind
from console.screens.desk import Desk

SETTLE_S, KEY_EVERY_S, KEY_LOST_S, LAG_SLEEP_S = 3.0, 0.11, 10.0, 0.005


class Probed(Console):
    """``play`` runs beside the desk once it shows jobs, and the desk ends with it."""

    def __init__(self, behind: Behind, play: "Callable[[Probed], Coroutine[None, None, dict[str, float]]]") -> None:
        super().__init__(behind)
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
            "key_cpu_p95_ms": quantile(cpus, 0.95), "lag_p99_ms": quantile(lags, 0.99), "rss_mb": rss_mb(os.getpid()),
            "keys": len(keys)}  # fmt: skip


def main(path: str, out: str) -> int:
    behind = Behind(Path(path), rounds=False)
    app = Probed(behind, live)
    app.run()
    Path(out).write_text(json.dumps(app.told))
    behind.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
