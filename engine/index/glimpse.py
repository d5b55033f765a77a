"""``Seen`` by the dozen, at a third of the cost.

A frozen dataclass is filled through ``object.__setattr__``, field by field, which is most of what a search costs once
the workers are found. A draft has the same slots, is filled plainly, then becomes the noun. A test holds both alike.
"""

from typing import cast

from engine.index.pool import Column
from engine.rules.nouns import Point, Seen


class _PointDraft:
    __slots__ = ("lat", "lng")

    def __init__(self, lat: float, lng: float) -> None:
        self.lat = lat
        self.lng = lng


class _SeenDraft:
    __slots__ = ("accuracy_m", "cell", "device_age_ms", "distance_m", "place", "receive_age_ms", "worker_id")


def seen_at(column: Column, slot: int, mono_ms: int, distance_m: float) -> Seen:
    """The worker in a slot, as seen now. Reads the column where it can: the worker itself is far away in memory."""
    worker = column.workers[slot]
    place = _PointDraft(column.lats[slot], column.lngs[slot])
    place.__class__ = Point  # pyright: ignore[reportAttributeAccessIssue]
    draft = _SeenDraft()
    draft.worker_id = worker.worker_id
    draft.place = place
    draft.cell = worker.cell
    draft.device_age_ms = mono_ms - column.borns[slot]
    draft.receive_age_ms = mono_ms - worker.contact_mono_ms
    draft.accuracy_m = worker.accuracy_m
    draft.distance_m = distance_m
    draft.__class__ = Seen  # pyright: ignore[reportAttributeAccessIssue]
    return cast(Seen, draft)
