"""A scenario with a mistake is refused with its file, the key, and what is allowed."""

from pathlib import Path

import pytest

from engine.ports import Forbidden, Invalid, NotFound
from engine.store import theatre
from engine.verbs.site import SiteFile
from engine.wiring import create
from fixtures import scenarios
from fixtures.rehearsal import Programs, opened

SOUND = (scenarios.HERE / "two-desks-one-job.toml").read_text(encoding="utf-8").split("\n[expected]")[0]
TOLD = (scenarios.HERE / "decline-and-walk-on.toml").read_text(encoding="utf-8").split("\n[expected]")[0]

MISTAKES = [
    ("title =", "titel =", "mine.toml: titel: no such key; did you mean title? allowed: title, teaches, "),
    ('title = "Two desks, one job"', 'title = ""', "mine.toml: title: a text is wanted"),
    ('title = "Two desks, one job"', "title = 7", "mine.toml: title = 7: a text is wanted"),
    ("teaches =", 'plot = "x"\nteaches =',
     "mine.toml: plot: no such key; allowed: title, teaches, rule, schedule, decisive, "),
    ("[site]", "[site", "mine.toml: not TOML: "),
    ("[site]\n", '[site]\nplace = "x"\n', "mine.toml: site.place: no such key; allowed: now, zone, regions, settings"),
    ("[site]\n", '[site]\nzone = "CET+1"\n', "mine.toml: site.zone 'CET+1': a name such as Europe/Vienna is wanted"),
    ('now = "2026-06-01 12:00"', 'now = "noon"', 'mine.toml: site.now = \'noon\': wanted: "2026-06-01 12:00"'),
    ('now = "2026-06-01 12:00"', 'now = "2026-06-01 12:00+02:00"', "without an offset: it is the site's own time"),
    ('now = "2026-06-01 12:00"', 'now = "0026-06-01 12:00"', "site.now = '0026-06-01 12:00': a year from 2000 to 2100"),
    ("[site]\n", "[site]\nsettings.lease.ttl = 9\n", "mine.toml: site.settings[lease] ttl: no such setting; known: "),
    ("[site]\n", "[site]\nsettings = 9\n", "mine.toml: site.settings = 9: sections are wanted, as [site.settings."),
    ('id = "ben"', 'id = "ana"', "mine.toml: worker = 'ana': each name once"),
    ('id = "ana"', 'id = "ana"\nlat = 200', "mine.toml: worker[1].lat = 200: a number from -90 to 90 is wanted"),
    ('id = "ana"', 'id = "ana"\nregion = "west"', "mine.toml: worker[1].region = 'west': allowed: main"),
    ('id = "ana"', 'id = "ana"\ncapacity = 0', "worker[1].capacity = 0: a whole number from 1 to 100 is wanted"),
    ('id = "ana"', 'id = "ana"\nskills = "cart"', "worker[1].skills = 'cart': a list of texts is wanted, as "),
    ("[[job]]", "[job]", "mine.toml: job = "),
    ('id = "exam"', 'id = "exam"\npriority = 6', "mine.toml: job[1].priority = 6: a whole number from 1 to 5"),
    ('["12:00", "13:00"]', '["13:00", "12:00"]', "job[1].window = ['13:00', '12:00']: the second has to be the later"),
    ('["12:00", "13:00"]', '["12:00"]', "mine.toml: job[1].window = ['12:00']: two times are wanted, as "),
    ('["12:00", "13:00"]', '["12:00", "1 pm"]', "mine.toml: job[1].window = '1 pm': a local time is wanted, as "),
    ('name = "south desk"', 'name = "north desk"', "mine.toml: cast = 'north desk': each name once"),
    ('name = "south desk"', 'name = "clock"', "mine.toml: cast[2].name = 'clock': any name but clock"),
    ('name = "south desk"', 'name = "south desk"\nas = "boss"', "cast[2].as = 'boss': allowed: worker, dispatcher, "),
    ('name = "south desk"', 'name = "south desk"\ncall = [{ what = "sweep" }]',
     "cast[2].do: wanted: a list of programs (do) "),
    ('offer = "o-south", ', "", "mine.toml: cast[2].do[1].offer: missing; a text is wanted"),
    ('what = "offer", offer = "o-south"', 'what = "grab", offer = "o"', "cast[2].do[1].what = 'grab': allowed: acc"),
    ('worker = "ben"', 'worker = "bob"', "mine.toml: cast[2].do[1].worker = 'bob': allowed: ana, ben"),
    ('worker = "ben"', 'worker = "ben", ttl = 9',
     "do[1].ttl: no such key; allowed: what, offer, job, worker, arrives, lane, generation, region, epoch"),
    ('worker = "ben"', 'worker = "ben", held = "o-1"', "do[1].held: no such key; allowed: what, offer, job, worker"),
    ("[site]\n", '[job]\nid = "b"\n\n[site]\n', "mine.toml: a table or key stands there twice (at line "),
    ('worker = "ben"', 'worker = "ben", epoch = "1"', "cast[2].do[1].epoch = '1': a whole number from 0 to"),
    ('"south desk",', '"west desk",', "mine.toml: schedule[2] = 'west desk': a session (north desk, south desk) "),
    ('"south desk",', '"south desk x0",', "mine.toml: schedule[2] = 'south desk x0': a session "),
    ('"south desk",', '"clock later",', "mine.toml: schedule[2] = 'clock later': wanted: \"clock +N s\" forward or "),
    ('"south desk",', '"clock +1e30 s",', "mine.toml: schedule[2] = 'clock +1e30 s': wanted: "),
    ('lane = "south desk"', 'lane = "west desk"', "mine.toml: decisive.lane = 'west desk': allowed: north desk, "),
    ('step = "claim_job"', 'step = "grab_job"',
     "mine.toml: decisive.step = 'grab_job': no statement of south desk; allowed: begin, read_epoch, "),
    ('"south desk",', '"clock 21",', "at most a day (86400), as \"clock +21 s\", \"clock -60 s\", \"clock -0.001 s\""),
    ("fault =", "foult =", "mine.toml: naive.foult: no such key; did you mean fault? allowed: fault, schedule"),
    ("answer =", "anser =", "mine.toml: question[1].anser: no such key; did you mean answer? allowed: ask, answer"),
    ('now = "2026-06-01 12:00"', 'now = "2026-06-01 12:00"\nregions = []',
     "site.regions = []: a list of names is wanted"),
    ('what = "offer", offer = "o-south", job = "exam", ', 'what = "accept", offer = "o-5", ',
     "cast[2].do[1].offer = 'o-5': an offer made by an act of this file is wanted; allowed: o-north"),
    ('offer = "o-south"', 'offer = "o-north"', "cast[2].do[1].offer = 'o-north': made at cast[1].do[1] already"),
    ('worker = "ben"', 'worker = "ben", lane = 1', "cast[2].do[1].lane = 1: ben has capacity 1; allowed: 0 to 0"),
    ('worker = "ben"', 'worker = "ben", arrives = "11:00"', "arrives = '11:00:00': a time from 12:00 (site.now) on"),
    ('name = "south desk"', 'name = "south desk"\nas = "worker"', "cast[2].do[1].what = 'offer': of a session"),
    ('step = "claim_job"', 'step = "expire_offer"',
     "decisive.step = 'expire_offer': no statement of south desk; allowed: begin, "),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES, ids=[each[2][:60] for each in MISTAKES])
def test_a_mistake_is_refused_with_file_key_and_what_is_allowed(right: str, wrong: str, said: str) -> None:
    assert right in SOUND, "the mistake is made in no place"
    with pytest.raises(Invalid) as refused:
        scenarios.read(SOUND.replace(right, wrong, 1), name="mine", file="mine.toml")
    assert str(refused.value).startswith("mine.toml: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('what = "sweep"', 'what = "expire"', "what = 'expire': allowed: accept, assign, cancel, decline, fix, "),
        ('step = "ben declines"', 'step = "decline_offer"', "decisive.step = 'decline_offer': allowed: ben declines"),
    ],
)
def test_mistakes_of_those_that_are_told_verb_by_verb(right: str, wrong: str, said: str) -> None:
    assert right in TOLD
    with pytest.raises(Invalid) as refused:
        scenarios.read(TOLD.replace(right, wrong, 1), name="mine", file="mine.toml")
    assert said in str(refused.value)


def test_what_was_before_has_to_have_gone_well(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    before = '[[before]]\ndo = "takeover"\nseen_epoch = 9\n\n[[cast]]'
    file.write_text(SOUND.replace("[[cast]]", before, 1), encoding="utf-8")
    with pytest.raises(Invalid) as refused, opened(scenarios.found(str(file))):
        pass
    assert str(refused.value).startswith(f"{file}: before[1]: it is lost at raise_epoch")


def test_an_unknown_name_is_told_the_list(tmp_path: Path) -> None:
    with pytest.raises(
        NotFound,
        match=r"two-desks: not found; did you mean two-desks-one-job\? there are accept-at-expiry, .*zombie-d",
    ):
        scenarios.found("two-desks")
    for near, meant in (("zombie", "zombie-dispatcher"), ("expiry", "accept-at-expiry or accept-before-expiry"),
                        ("late-acept", "late-accept")):  # fmt: skip
        with pytest.raises(NotFound, match=f"did you mean {meant}"):
            scenarios.found(near)
    (tmp_path / "latin.toml").write_bytes(b'title = "\xe9"')
    with pytest.raises(Invalid, match=r"latin\.toml: not UTF-8 at byte 9"):
        scenarios.found(str(tmp_path / "latin.toml"))


def test_naive_where_there_is_no_twin_and_every_schedule_where_there_is_one_order() -> None:
    with (
        pytest.raises(
            Invalid,
            match=r"two-sweepers\.toml: naive: two-sweepers has no naive twin: .*naive twins have: offer, acc",
        ),
        opened(scenarios.found("two-sweepers"), Programs.BARE),
    ):
        pass
    with opened(scenarios.found("index-lost")) as house, pytest.raises(Invalid, match="it has one order"):
        house.every(None)


def test_too_many_schedules_are_refused_before_anybody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theatre, "SCHEDULES_MAX", 50)
    with (
        opened(scenarios.found("late-accept"), Programs.BARE) as house,
        pytest.raises(Invalid, match="more than 50 schedules: play fewer sessions"),
    ):
        house.every(None)


def test_a_rehearsal_refuses_a_database_that_is_not_a_training_one(tmp_path: Path) -> None:
    live, training = tmp_path / "live.db", tmp_path / "training.db"
    create(live, SiteFile(), training=False)
    create(training, SiteFile(), training=True)
    script = scenarios.found("two-desks-one-job")
    with pytest.raises(Forbidden, match=r"live\.db is a live database: .* --training"), opened(script, database=live):
        pass
    was = training.read_bytes()
    with opened(script, database=training) as house:
        for _ in house.player.play():
            pass
    assert training.read_bytes() == was


BEFORE = """
[[before]]
do = "offer"
offer = "o-1"
job = "exam"
worker = "ana"

[[before]]
do = "accept"
offer = "o-1"
worker = "ana"

[[cast]]"""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('do = "accept"\noffer = "o-1"\nworker = "ana"', 'do = "accept"\noffer = "o-1"\nworker = "ben"',
         "mine.toml: before[2].worker = 'ben': offer o-1 is for ana (before[1]); allowed: ana"),
        ('do = "accept"\noffer = "o-1"', 'do = "accept"\noffer = "o-7"',
         "before[2].offer = 'o-7': an offer made by an act above is wanted; allowed: o-1"),
    ],
)  # fmt: skip
def test_what_was_before_has_to_be_about_an_offer_and_its_worker(right: str, wrong: str, said: str) -> None:
    text = SOUND.replace("\n[[cast]]", BEFORE, 1)
    assert right in text
    with pytest.raises(Invalid) as refused:
        scenarios.read(text.replace(right, wrong, 1), name="mine", file="mine.toml")
    assert said in str(refused.value)


def refused_when_opened(text: str, programs: Programs = Programs.SAFE) -> str:
    with pytest.raises(Invalid) as refused, opened(scenarios.read(text, name="mine", file="mine.toml"), programs):
        pass
    return str(refused.value)


def test_a_schedule_that_cannot_be_kept_to_is_refused_when_it_is_opened() -> None:
    def planned(schedule: str) -> str:
        return SOUND.replace('["north desk x2", "south desk", "north desk end", "south desk end"]', schedule, 1)

    said = refused_when_opened(planned('["north desk x99"]'))
    assert said == (
        "mine.toml: schedule[1] = 'north desk x99': north desk has 11 moves left there; allowed: up to x11, "
        'or "north desk end"'
    )
    said = refused_when_opened(planned('["north desk end", "north desk"]'))
    assert said.endswith("schedule[2] = 'north desk': north desk has no move left there; allowed: leave this line out")
    said = refused_when_opened(planned('["north desk x2", "south desk x9", "north desk end"]'))
    assert "schedule[2] = 'south desk x9': south desk waits there for another's transaction; allowed: x1" in said


def test_a_decisive_step_that_is_not_come_to_is_refused_when_it_is_opened() -> None:
    said = refused_when_opened(SOUND.replace('step = "claim_job"', 'step = "write_offer"', 1))
    assert said == (
        "mine.toml: decisive.step = 'write_offer': south desk does not come to it here; "
        "allowed: begin, read_epoch, claim_job"
    )


def test_naive_without_twins_is_refused_with_those_that_have_one() -> None:
    sweepers = (scenarios.HERE / "two-sweepers.toml").read_text(encoding="utf-8").split("\n[expected]")[0]
    decline = sweepers.replace('what = "expire", offer = "o-1"', 'what = "withdraw", offer = "o-1"')
    text = decline + '\n[naive]\nfault = "x"\nschedule = ["first sweeper end"]\n'
    with pytest.raises(Invalid) as refused:
        scenarios.read(text.replace('"expire_offer"', '"withdraw_offer"'), name="mine", file="mine.toml")
    assert str(refused.value) == (
        "mine.toml: naive: no naive twin has: withdraw; naive twins have: offer, accept, expire"
    )
