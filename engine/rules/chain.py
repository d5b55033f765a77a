"""The audit's hash chain: each row's hash covers its fields and the hash of the row before."""

import hashlib
import json
from collections.abc import Mapping, Sequence

GENESIS = "0" * 64
FIELDS = ("seq", "at_ms", "actor", "role", "act", "job_id", "worker_id", "offer_id", "reason", "words", "detail")


def link(tenant: str, row: Mapping[str, object], prev_hash: str) -> str:
    """The hash of an audit row (SHA-256, hex) over the tenant, FIELDS in order, and the row before."""
    body = json.dumps([tenant, prev_hash, *(row[name] for name in FIELDS)], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def first_bad(tenant: str, rows: Sequence[Mapping[str, object]], prev_seq: int, prev_hash: str) -> int | None:
    """The number of the first row edited, deleted, moved or put in, walking on from ``prev_seq``; None if whole."""
    for row in rows:
        expected = prev_seq + 1
        if row["seq"] != expected or row["prev_hash"] != prev_hash or row["hash"] != link(tenant, row, prev_hash):
            return expected
        prev_seq, prev_hash = expected, str(row["hash"])
    return None
