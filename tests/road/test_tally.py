"""Counts of road calls, over the span that the site names."""

from engine.road.tally import Tally


def test_what_is_older_than_the_span_is_not_counted() -> None:
    now = [1_000.0]
    tally = Tally(clock=lambda: now[0], span_s=60)
    tally.add("calls", "timeouts")
    now[0] += 50
    tally.add("calls")
    assert (tally.counts().calls, tally.counts().timeouts) == (2, 1)
    now[0] += 10
    assert (tally.counts().calls, tally.counts().timeouts) == (1, 0)
    now[0] += 60
    assert tally.counts().calls == 0
