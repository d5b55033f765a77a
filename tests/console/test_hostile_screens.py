"""B111, B112, B114: whatever stands in the data is shown as it stands and obeyed by nobody: read byte by byte off a
real terminal, and screen by screen with every field set to each of sixty texts."""

from dataclasses import replace
from pathlib import Path

import pytest

from console.commands import COMMANDS
from console.viewmodels import alerts, detail, offers, status
from console.viewmodels.cells import Line
from console.viewmodels.rows import AlertRow, AttemptRow, DecisionRow, Detail, OfferRow, Snapshot
from console.widgets.paint import content
from console.words import inert
from engine import wiring
from engine.verbs import intake
from engine.verbs.site import SiteFile
from tests.console.desks import MINUTE_MS, NOON_MS, WHO, job, worker
from tests.console.terminals import Seat, desk_on, staffed
from tests.console.test_cursor import SITE, row

HOSTILE = (
    # markup of Textual, of Rich, of others
    "[/]", "[", "]", "[/b]", "[b]bold", "[@click=app.quit]press[/]", "[@click=app.bell]x", "[#1234]", "[link=http://x]y[/]",
    "[on red]", "$error", "$primary [b", "\\[b]", "[[", "[blink]", ":warning:", "<b>&amp;</b>", "%s %d {0} {x!r}",
    # formulas and command lines
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "'; DROP TABLE jobs; --", "../../etc/passwd", "`id`", "$(id)",
    # controls, escapes, their eight-bit twins
    "\x1b", "\x1b[2J", "\x1b[31mred", "\x1b[?1049l", "\x1b[?25h", "\x1bc",
    "\x1b]0;title\x07", "\x1b]52;c;aGVsbG8=\x07",
    "\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\", "\x1bP0;1|17/ab\x1b\\", "\x9b31m", "\x9d52;c;aGVsbG8=\x9c", "\x07",
    "\x08\x08", "a\tb", "a\nb\r\nc", "a\x0bb\x0cc", "\x7f", "\x85next", "\u2028line\u2029",
    # what cannot be seen, or turns the line round
    "abc\u202eexe.txt", "\u2066x\u2069", "\u200f\u200e", "\ufeffbom", "zero\u200bwidth", "soft\u00adhyphen",
    "\U000e0041tag",
    # wide, joined, stacked, long
    "日本語の会場", "👩‍👩‍👧‍👦 family", "🏳️‍🌈🏥👍🏽", "é\u0301\u0301\u0301\u0301 Zalgo\u0363\u0364", "مستشفى المدينة",
    "🇳🇴🇮🇹 ｆｕｌｌ",
    "x" * 10_000,
)  # fmt: skip
EVERYTHING = " ".join(each for each in HOSTILE if len(each) < 100)


def test_there_are_sixty() -> None:
    assert len(HOSTILE) == len(set(HOSTILE)) == 60


# --- line by line: every field of every row -------------------------------------------------------------------------


def told(lines: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def offer_of(text: str) -> OfferRow:
    return OfferRow(id=text, job_id=text, worker=text, created_ms=NOON_MS, expires_ms=NOON_MS + 20_000,
                    band_from_ms=NOON_MS, band_to_ms=NOON_MS, confidence="low")  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_B112_nothing_of_a_text_is_lost_and_nothing_of_it_is_read_as_markup(text: str) -> None:
    aimed = replace(row(1), id=text, type=text, skills=text, address=text, notes=text, attachments=text, region=text,
                    worker=text, live_offer_id=text, state="OFFERED")  # fmt: skip
    decision = DecisionRow(made_ms=NOON_MS, outcome="offered", worker=text, ranked=1, refused=(), policy=1, total_us=1)
    attempt = AttemptRow(offer=offer_of(text), state="OFFERED", answered_ms=None, made_by=text, arrival_ms=NOON_MS)
    full = detail.lines(aimed, Detail(job_id=text, attempts=(attempt,), decision=decision), NOON_MS, "Europe/Rome")
    assert told(full).count(inert(text)) >= 9
    alert = AlertRow(id=text, kind="no_show", severity=1, job_id=text, worker=text, detail=text, opened_ms=NOON_MS,
                     acked_by=text, owner=text, snoozed_until_ms=0, escalated=0)  # fmt: skip
    offer_line = offers.line(offer_of(text), 200, NOON_MS, "Europe/Rome")
    lines = [*full, alerts.line(alert, 200, NOON_MS, "Europe/Rome"), offer_line]
    site = replace(SITE, name=text, actor=text, role="dispatcher")
    snap = Snapshot(read_s=0, now_ms=NOON_MS, site=site, jobs={text: aimed}, alerts=(alert,), offers=(offer_of(text),),
                    router="ok", rounds="here", p99_us=None)  # fmt: skip
    lines.append(status.line(snap, status.Health(0.0), 200, NOON_MS))
    painted = content(lines)
    assert painted.plain == told(lines)
    assert not [each for each in painted.spans if "@" in str(each.style) or "meta" in str(each.style)]
    assert inert(painted.plain.replace("\n", " ")) == painted.plain.replace("\n", " ")


# --- byte by byte: every key of the desk on a real terminal ----------------------------------------------------------


def hostile_site(path: Path, texts: tuple[str, ...]) -> Path:
    """A live site where each job and each worker bears one of the texts in every field a person can fill."""
    quiet = {"lease": {"auto_offer": False}, "console": {"bell": False}}
    wiring.create(path, SiteFile(name=texts[0], zone="Europe/Rome", overrides=quiet), training=False)
    engine = wiring.open_engine(path)
    now_ms = engine.store.clock(engine.tenant).now_ms
    staffed(engine, [replace(worker(at, text), ref=f"W{at}{text[:40]}") for at, text in enumerate(texts)])
    for at, text in enumerate(texts):
        new = job(f"J{at}{text[:40]}", due_min=60, type=text[:200], address=text, notes=text)
        due_ms = now_ms + (60 + at) * MINUTE_MS
        intake.create_job(engine, WHO, replace(new, not_before_ms=now_ms, due_by_ms=due_ms))
    wiring.close(engine)
    return path


def every_key(desk: Seat) -> None:
    """Each command of the desk once, on the job under the cursor; whatever opens is left again."""
    for each in COMMANDS:
        if each.id in ("leave", "quit"):
            continue
        for key in each.keys:
            if len(key) == 1 or key == "question_mark":
                desk.press("?" if key == "question_mark" else key, gap_s=0.12)
                desk.press("j", gap_s=0.03)
                desk.press("\x1b", "\x1b", gap_s=0.11)
                alive(desk)
                break


def alive(desk: Seat) -> None:
    assert desk.process.poll() is None, desk.text
    assert desk.glass.strange == []
    assert desk.glass.copied == []


def test_B111_no_byte_of_the_data_reaches_the_terminal(tmp_path: Path) -> None:
    path = hostile_site(tmp_path / "site.db", (EVERYTHING, *HOSTILE))
    with desk_on(path, LOGNAME="ana\x1b[31m[/]") as desk:
        desk.until("LIVE")
        desk.until("J0")
        every_key(desk)
        desk.press("2", *"j" * len(HOSTILE))
        desk.press(*"1345")
        alive(desk)
        desk.press("\x1b", "2", "g", gap_s=0.2)
        desk.until("│ J0[/]")
        alive(desk)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("part", range(6))
def test_B111_no_byte_of_any_text_reaches_the_terminal_with_any_key(tmp_path: Path, part: int) -> None:
    texts = HOSTILE[part * 10 : part * 10 + 10]
    path = hostile_site(tmp_path / "site.db", texts)
    with desk_on(path, size=(80, 24)) as desk:
        desk.until("LIVE")
        desk.until("J0")
        for at in range(len(texts)):
            desk.press("2", "g", *"j" * at, gap_s=0.1)
            every_key(desk)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_B111_what_was_done_to_it_comes_back_into_the_line_as_symbols(tmp_path: Path) -> None:
    """A key's act is kept as it would be typed, with the job's id in it; a box prints what it holds as it stands."""
    path = hostile_site(tmp_path / "site.db", HOSTILE)
    with desk_on(path) as desk:
        desk.until("LIVE")
        desk.until("J0")
        for _ in HOSTILE:
            desk.press("s", gap_s=0.25)
            desk.press("/", "\x1b[A", gap_s=0.1)
            desk.press("\x1b", "\x1b", gap_s=0.1)
            alive(desk)
            desk.press("j")


def test_keys_that_run_ahead_of_a_page_that_opens_do_no_harm(tmp_path: Path) -> None:
    """A key on its way up from the desk is run by the newest screen, whole or not."""
    path = hostile_site(tmp_path / "site.db", ("plain",))
    with desk_on(path) as desk:
        desk.until("LIVE")
        for each in ("?", "w", "i", "o", "W", "A", "H", "/"):
            for _ in range(2):
                desk.press(f"j{each}jkj", gap_s=0.05)
                desk.press("\x1b", "\x1b", gap_s=0.11)
            alive(desk)


def test_B114_what_is_typed_or_pasted_is_a_literal_filter(tmp_path: Path) -> None:
    path = hostile_site(tmp_path / "site.db", ("[/]", "[@click=app.quit]", "plain"))
    with desk_on(path) as desk:
        desk.until("LIVE")
        desk.until("J2plain")
        for text in HOSTILE[:-1]:
            desk.press("f", "\x15", f"\x1b[200~{text}\x1b[201~", "\r", gap_s=0.02)
            alive(desk)
        desk.press("f", "\x15", "[", "/", "]")
        desk.until(lambda text: "J0[/]" in text and "J2plain" not in text)
        desk.press("\r")
        desk.until("1 of 3")
