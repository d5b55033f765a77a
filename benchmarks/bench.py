"""The door of the benchmarks: `run.py bench ingest|search|decide|lease|console` asks here."""

import gc
from collections.abc import Callable

from benchmarks import console, decide, ingest, lease, search
from benchmarks.figures import Figure, Progress, noise, silent

BENCHES: dict[str, Callable[[Progress, bool], list[Figure]]] = {
    "ingest": ingest.measure,
    "search": search.measure,
    "decide": decide.measure,
    "lease": lease.measure,
    "console": console.measure,
}


def bench(name: str, *, progress: Progress | None = None, small: bool = False) -> list[Figure]:
    """The figures of one bench, the machine's noise before and after. ``small``: for tests, the shapes alone.

    Raises KeyError for an unknown name."""
    measure, say = BENCHES[name], progress or silent
    before, collector = noise(), gc.get_threshold()
    try:
        figures = measure(say, small)
    finally:
        gc.unfreeze()
        gc.set_threshold(*collector)
    return [*figures, *before, *noise()[1:]]
