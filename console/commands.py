"""One object for each action of the desk: it feeds the bindings, the footer, the help, and the reason why not now."""

from collections.abc import Callable
from dataclasses import dataclass

from console.viewmodels.rows import ACCEPTED, IN_PROGRESS, OFFERED, TERMINAL, WAITING, AlertRow, JobRow


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskState:
    """What a command is judged on: the pane with the focus, and what its cursor is on."""

    ready: bool
    readonly: bool
    pane: str
    job: JobRow | None
    alert: AlertRow | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """``keys``: as Textual names them, the first is shown. ``allowed``: None, or the reason why not now.
    ``rank``: lower ones are shown first where the footer is narrow; None: help only."""

    id: str
    keys: tuple[str, ...]
    label: str
    tooltip: str
    allowed: Callable[[DeskState], str | None]
    rank: int | None = None


def always(_: DeskState) -> str | None:
    return None


def _job(state: DeskState) -> str | None:
    if not state.ready:
        return "the database is not open yet"
    if state.job is None:
        return "no job is selected"
    return None


def _writes(state: DeskState) -> str | None:
    if state.readonly:
        return "this desk is read-only"
    wrong = _job(state)
    if wrong is not None:
        return wrong
    if state.job is not None and state.job.gone:
        return f"{state.job.id} has left the list"
    return None


def may_assign(state: DeskState) -> str | None:
    job = state.job
    if (wrong := _writes(state)) is not None or job is None:
        return wrong
    if job.state == OFFERED:
        return f"{job.id} is offered to {job.worker}: their offer stands until its time"
    return None if job.state in WAITING else f"{job.id} is {_word(job)}: only a waiting job is assigned"


def may_override(state: DeskState) -> str | None:
    job = state.job
    if (wrong := _writes(state)) is not None or job is None:
        return wrong
    if job.state == OFFERED:
        return f"{job.id} is offered to {job.worker}: withdraw that first (x)"
    if job.state == ACCEPTED:
        return f"{job.id} is held by {job.worker}: release (l) or reassign (r) it"
    return None if job.state in WAITING else f"{job.id} is {_word(job)}"


def may_withdraw(state: DeskState) -> str | None:
    job = state.job
    if (wrong := _writes(state)) is not None or job is None:
        return wrong
    return None if job.state == OFFERED else f"{job.id} is {_word(job)}: it has no offer to withdraw"


def may_release(state: DeskState) -> str | None:
    job = state.job
    if (wrong := _writes(state)) is not None or job is None:
        return wrong
    if job.state == IN_PROGRESS:
        return f"{job.id} is in progress with {job.worker}: finish or cancel it"
    return None if job.state == ACCEPTED else f"{job.id} is {_word(job)}: nobody holds it"


def may_cancel(state: DeskState) -> str | None:
    job = state.job
    if (wrong := _writes(state)) is not None or job is None:
        return wrong
    return f"{job.id} is {_word(job)} already" if job.state in TERMINAL else None


def may_acknowledge(state: DeskState) -> str | None:
    if state.readonly:
        return "this desk is read-only"
    if not state.ready:
        return "the database is not open yet"
    if state.alert is None:
        where = "no alert is selected" if state.pane == "alerts" else "there is no alert on this job"
        return f"{where}: choose one in pane 1"
    return f"{state.alert.id} is acknowledged by {state.alert.acked_by} already" if state.alert.acked_by else None


def _word(job: JobRow) -> str:
    return job.state.replace("_", " ").lower()


COMMANDS = (
    Command(id="help", keys=("question_mark",), label="help", allowed=always, rank=0,
            tooltip="What every key does, and why not now"),
    Command(id="assign", keys=("s",), label="assign", allowed=may_assign, rank=1,
            tooltip="Offer the job to the best eligible worker (enter in pane 2)"),
    Command(id="override", keys=("o",), label="override", allowed=may_override, rank=2,
            tooltip="Choose the worker yourself, with a reason; audited"),
    Command(id="acknowledge", keys=("a",), label="ack", allowed=may_acknowledge, rank=3,
            tooltip="Acknowledge the alert"),
    Command(id="why", keys=("w",), label="why", allowed=_job, rank=4,
            tooltip="Every worker looked at, and why or why not"),
    Command(id="filter", keys=("f",), label="filter", allowed=always, rank=5,
            tooltip="Show only jobs with these words; esc clears it"),
    Command(id="unassigned", keys=("u",), label="unassigned", allowed=always, rank=6,
            tooltip="Show only jobs that nobody has, or all again"),
    Command(id="withdraw", keys=("x",), label="withdraw", allowed=may_withdraw, rank=7,
            tooltip="Take the live offer back, with a reason"),
    Command(id="release", keys=("l",), label="release", allowed=may_release, rank=8,
            tooltip="Take the job from its worker, with a reason; it is offered on"),
    Command(id="reassign", keys=("r",), label="reassign", allowed=may_release, rank=9,
            tooltip="Release and give to the best other worker, with a reason"),
    Command(id="cancel", keys=("c",), label="cancel", allowed=may_cancel, rank=10,
            tooltip="End the job, with a reason"),
    Command(id="sort", keys=("z",), label="sort", allowed=always, rank=11,
            tooltip="Next order: urgency, due, priority, job"),
    Command(id="theme", keys=("T",), label="theme", allowed=always, rank=13,
            tooltip="Dark, light, Okabe-Ito"),
    Command(id="leave", keys=("q",), label="quit", allowed=always, rank=12,
            tooltip="Leave the desk (asks; ctrl+q leaves at once)"),
)  # fmt: skip

PANES = {
    "alerts": ("1", "Alerts"),
    "jobs": ("2", "Jobs"),
    "cells": ("3", "Cells"),
    "detail": ("4", "Job"),
    "offers": ("5", "Offers"),
}

MOVING = (
    ("j k, arrows", "up and down"),
    ("g G, home end", "first and last"),
    ("page up, page down", "a page"),
    ("1 2 3 4 5, tab", "panes: alerts, jobs, cells, job, offers"),
    ("enter", "in jobs: assign; in alerts and offers: go to the job"),
    ("arrows + - enter", "in cells: move, larger, smaller, only this cell's jobs; 2~3 is workers, stale, jobs"),
    ("esc", "back to jobs; clears the filter"),
)

KEY_WORDS = {"question_mark": "?"}


def shown_key(command: Command) -> str:
    return KEY_WORDS.get(command.keys[0], command.keys[0])


def by_id(command_id: str) -> Command:
    return next(each for each in COMMANDS if each.id == command_id)
