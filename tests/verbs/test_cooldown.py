"""Asked again inside the cooldown: where the site allows it and nobody is left once times are known (SPEC 3.2)."""

from collections.abc import Callable

from tests.desk import Desk, north, offered_to, ranking, verdicts

Found = Callable[..., Desk]
RETRY = {"lease": {"cooldown_retry_when_empty": True}, "slack_capacity": {"reserve_share": 0.0}}


def declined_by_ben(desk: Desk, *, due: float) -> None:
    desk.worker("ben", north(3))
    desk.job("J1", due=due)
    offer = desk.assign("J1").offer
    assert offer is not None
    desk.decline(offer)


def test_who_passes_the_bound_and_fails_on_the_real_time_does_not_fill_the_list(found: Found) -> None:
    desk = found(**RETRY)
    declined_by_ben(desk, due=40)
    desk.worker("cleo", north(50))
    again = desk.assign("J1")
    assert offered_to(again) == "ben"
    assert verdicts(again.considered) == {"ben": "ranked", "cleo": "late"}
    kept = desk.engine.store.last_summary("main", "J1")
    assert kept is not None
    assert kept[1].retried_in_cooldown, "the decision says so"
    assert kept[1].refused == {"late": 1}


def test_whoever_is_beyond_the_first_search_is_timed_before_anybody_is_asked_again(found: Found) -> None:
    desk = found(**RETRY, assign={"enough_candidates": 1, "k": 1})
    declined_by_ben(desk, due=60)
    desk.worker("cleo", north(20))
    again = desk.assign("J1")
    assert ranking(again.considered) == ["cleo"]
    assert verdicts(again.considered)["ben"] == "cooldown"


def test_asked_again_they_still_have_to_be_free_and_in_time(found: Found) -> None:
    desk = found(**RETRY)
    declined_by_ben(desk, due=40)
    desk.job("other", north(3), due=40, lasts=90)
    desk.give("other", "ben")
    desk.worker("cleo", north(50))
    done = desk.assign("J1")
    assert offered_to(done) is None
    assert verdicts(done.considered) == {"ben": "overlap", "cleo": "late"}
