"""What the index answers: who is about, and what became of a batch of fixes."""

from dataclasses import dataclass

from engine.rules.freshness import LatestFix, Rejection
from engine.rules.nouns import Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What became of a batch; ``archive`` is due for the sampled archive and belongs to workers, not to phones."""

    kept: int
    rejected: tuple[tuple[Rejection, int], ...]
    archive: tuple[LatestFix, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Who is about a place, nearest first.

    ``skilled``: everyone with the skills, fresh or stale, as far as the last of the ``enough`` fresh ones; ask again
    with more if too few of them may have the job. ``unskilled``: the nearest without the skills, no farther than that.
    ``unskilled_more``: at least so many others of the tenant lack the skills. ``rings``: rings walked.
    """

    skilled: tuple[Seen, ...]
    unskilled: tuple[Seen, ...]
    unskilled_more: int
    rings: int
