"""The positions of one tenant's workers: a row each in three tables of numpy, so that a batch of fixes, a search or a
write-behind costs a few calls over whole columns and not a visit to each worker.

A row of ``seen`` is what a search reads, 64 bytes: one line of the processor's memory. Degrees and metres lie in the
table of whole numbers as doubles (``degrees`` is the same memory read as such).
"""

from collections.abc import Iterable
from math import isnan, nan
from struct import Struct
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from engine.index.ground import Ground
from engine.rules.freshness import LatestFix, lag_ms
from engine.rules.nouns import Presence

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int64]
Row = tuple[float, float, float, int, int, int, int, int]

# ``seen``: where (accuracy NaN: unknown), since when (``BORN``: when the position was true; both on the clock that does
# not jump), in which cell, of which kind, and whether the worker is in the grid.
LAT, LNG, ACCURACY, BORN, CONTACT, CELL, KIND, HOT = range(8)
ROW: Final = Struct("dddqqqqq")
# ``held``: what the next fix is judged by and the disk is told. ``KNOWN``: there was a position.
DEVICE, RECEIVED, SEQ, SAMPLED, SAMPLED_LATE, KNOWN, DIRTY = range(7)
# ``home``: the circle within which a position is in its cell for certain.
MIDDLE_LAT, MIDDLE_LNG, SHRINK, INNER = range(4)

NEVER_MS = -(10**15)
NO_SEQ = -(2**63)
_FIRST_ROWS = 64


class Positions:
    """``slot``: a worker's row. Grows by doubling."""

    __slots__ = ("degrees", "held", "home", "seen")

    def __init__(self) -> None:
        self.seen: Ints = np.zeros((_FIRST_ROWS, 8), dtype=np.int64)
        self.held: Ints = np.zeros((_FIRST_ROWS, 7), dtype=np.int64)
        self.home: Floats = np.zeros((_FIRST_ROWS, 4))
        self.degrees: Floats = self.seen.view(np.float64)

    def make_room(self, slot: int) -> None:
        """An empty row: nowhere, never heard of."""
        while slot >= len(self.seen):
            self.seen = np.concatenate((self.seen, np.zeros_like(self.seen)))
            self.held = np.concatenate((self.held, np.zeros_like(self.held)))
            self.home = np.concatenate((self.home, np.zeros_like(self.home)))
            self.degrees = self.seen.view(np.float64)
        self.seen[slot], self.held[slot], self.home[slot] = 0, 0, 0
        self.held[slot, SAMPLED : SAMPLED_LATE + 1] = NEVER_MS

    def row(self, slot: int) -> Row:
        return ROW.unpack_from(self.seen[slot])

    def is_hot(self, slot: int) -> bool:
        return bool(self.seen[slot, HOT])

    def is_known(self, slot: int) -> bool:
        return bool(self.held[slot, KNOWN])

    def put(self, slot: int, fix: LatestFix, *, seen_mono_ms: int) -> None:
        """A position that came at ``seen_mono_ms``. Its cell is another matter (``settle``)."""
        accuracy, seq = fix.accuracy_m, fix.seq
        born = seen_mono_ms - lag_ms(fix.device_ms, fix.received_ms)
        self.degrees[slot, :BORN] = fix.lat, fix.lng, nan if accuracy is None else accuracy
        self.seen[slot, BORN:CELL] = born, seen_mono_ms
        self.held[slot, :SAMPLED] = fix.device_ms, fix.received_ms, NO_SEQ if seq is None else seq
        self.held[slot, KNOWN] = 1

    def settle(self, slot: int, cell: int, ground: Ground) -> None:
        """The worker stands in this cell from now on."""
        self.seen[slot, CELL] = cell
        self.home[slot] = ground.lat, ground.lng, ground.shrink, ground.inner

    def presence(self, slot: int, worker_id: str) -> Presence:
        """A copy of what is held of a worker who is known."""
        lat, lng, accuracy, born, contact, cell, _, _ = self.row(slot)
        device, received, seq = self.held[slot, :SAMPLED].tolist()
        lag = lag_ms(device, received)
        return Presence(
            worker_id=worker_id,
            lat=lat,
            lng=lng,
            cell=cell,
            accuracy_m=None if isnan(accuracy) else accuracy,
            device_ms=device,
            seq=None if seq == NO_SEQ else seq,
            received_ms=received,
            lag_ms=lag,
            seen_mono_ms=born + lag,
            contact_mono_ms=contact,
        )

    def latest(self, slots: Slots, ids: list[str]) -> list[LatestFix]:
        """These workers' positions, for the disk."""
        where: Iterable[list[float]] = self.degrees[slots, :BORN].tolist()
        when: Iterable[list[int]] = self.held[slots, :SAMPLED].tolist()
        numbers: list[int] = slots.tolist()
        drafts: list[_LatestDraft] = []
        for slot, (lat, lng, accuracy), (device, received, seq) in zip(numbers, where, when, strict=True):
            draft = _LatestDraft()
            draft.worker_id = ids[slot]
            draft.device_ms, draft.received_ms = device, received
            draft.lat, draft.lng = lat, lng
            draft.accuracy_m = accuracy if accuracy == accuracy else None
            draft.seq = seq if seq != NO_SEQ else None
            draft.__class__ = LatestFix  # pyright: ignore[reportAttributeAccessIssue]
            drafts.append(draft)
        return cast(list[LatestFix], drafts)


class _LatestDraft:
    """Filled plainly, then it becomes the noun: see glimpse."""

    __slots__ = ("accuracy_m", "device_ms", "lat", "lng", "received_ms", "seq", "worker_id")
