"""Fixes as lines of JSON, read whole batches at a time: the way in for whoever sends thousands a second.

A line is {"worker", "device_time", "lat", "lng", "accuracy"?, "seq"?}; device_time is RFC 3339 with an offset. Lines go
to the index as they are read: making another noun of each would cost more than reading them.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec

from engine.ports import Invalid

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


class FixLine(msgspec.Struct, gc=False, omit_defaults=True):
    """A ``Report`` (see freshness). ``device_ms`` is set by ``read_lines``, whatever the line said."""

    worker: str
    device_time: Annotated[datetime, msgspec.Meta(tz=True)]
    lat: float
    lng: float
    accuracy_m: float | None = msgspec.field(default=None, name="accuracy")
    seq: Annotated[int, msgspec.Meta(ge=0, le=2**53)] | None = None
    device_ms: int = 0


_DECODER = msgspec.json.Decoder(FixLine)


def read_lines(batch: bytes) -> list[FixLine]:
    """Every line of a batch, or none: raises Invalid with the first thing that is wrong."""
    try:
        lines = _DECODER.decode_lines(batch)
    except msgspec.MsgspecError as error:
        raise Invalid(f"fixes: {error}") from error
    for line in lines:
        line.device_ms = (line.device_time - EPOCH) // MILLISECOND
    return lines


def line_of(worker: str, device_ms: int, lat: float, lng: float, accuracy_m: float | None = None) -> FixLine:
    """The line a phone would send."""
    return FixLine(worker=worker, device_time=EPOCH + device_ms * MILLISECOND, lat=lat, lng=lng, accuracy_m=accuracy_m)


_ENCODER = msgspec.json.Encoder()


def write_lines(lines: Iterable[FixLine]) -> bytes:
    return _ENCODER.encode_lines(lines)
