"""The JSON in which fixes come: a line each with worker, device_time, lat, lng, accuracy?, seq?."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from engine.rules.nouns import FixReport

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


class FixLine(msgspec.Struct, frozen=True, gc=False):
    worker: str
    device_time: datetime
    lat: float
    lng: float
    accuracy: float | None = None
    seq: int | None = None


_DECODER = msgspec.json.Decoder(FixLine)
_ENCODER = msgspec.json.Encoder()


def decoded(batch: bytes) -> list[FixReport]:
    """A batch of lines as the engine takes them. Raises msgspec.ValidationError."""
    return [
        FixReport(
            worker=line.worker,
            device_ms=(line.device_time - EPOCH) // MILLISECOND,
            lat=line.lat,
            lng=line.lng,
            accuracy_m=line.accuracy,
            seq=line.seq,
        )
        for line in _DECODER.decode_lines(batch)
    ]


def encoded(fixes: Iterable[FixLine]) -> bytes:
    return _ENCODER.encode_lines(fixes)


def at(device_ms: int) -> datetime:
    return EPOCH + device_ms * MILLISECOND
