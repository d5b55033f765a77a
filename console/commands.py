"""One object for each action of the desk: it feeds the bindings, the footer, the help, the command line, the keymap,
and the reason why not now."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from console.viewmodels.commands_may import (
    DeskState,
    Typed,
    always,
    may_acknowledge,
    may_answer,
    may_assign,
    may_cancel,
    may_finish,
    may_handoff,
    may_look,
    may_mark,
    may_override,
    may_preempt,
    may_rehearse,
    may_release,
    may_see_job,
    may_stage,
    may_start,
    may_triage,
    may_undo,
    may_unmark,
    may_withdraw,
)
from console.viewmodels.rows import AlertRow, JobRow

__all__ = ["DeskState", "Typed", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """``keys``: as Textual names them, the first is shown; none: only typed. ``allowed``: None, or the reason why not
    now. ``rank``: lower ones are shown first where the footer is narrow; None: help only. ``act``: what a role must be
    allowed; "" for what changes nothing. ``bulk``: with marks it is for all of them. ``form``: how it is typed."""

    id: str
    keys: tuple[str, ...]
    label: str
    tooltip: str
    allowed: Callable[[DeskState], str | None]
    rank: int | None = None
    act: str = ""
    bulk: bool = False
    form: str = ""

    def refusal(self, state: DeskState) -> str | None:
        """None, or the reason why not now: the desk, then the role, then what is under the cursor (or marked)."""
        if self.act and state.readonly:
            return "this desk is read-only"
        if self.act and state.acts is not None and self.act not in state.acts:
            return f"the role {state.role} may not {self.act.replace('_', ' ')}"
        if many := self.many(state):
            every = [self.allowed(_on(state, each)) for each in many]
            return None if None in every else f"none of the {len(every)} marked: {every[0]}"
        return self.allowed(state)

    def many(self, state: DeskState) -> tuple[JobRow, ...] | tuple[AlertRow, ...]:
        """What is marked, where this command is for all of it: alerts for triage, jobs for the rest."""
        if not self.bulk:
            return ()
        return state.marked_alerts if self.act == "triage" else state.marked


def _on(state: DeskState, item: JobRow | AlertRow) -> DeskState:
    return replace(state, alert=item) if isinstance(item, AlertRow) else replace(state, job=item)


REASONED = 'JOB reason "words"'
COMMANDS = (
    Command(id="help", keys=("question_mark",), label="help", allowed=always, rank=0, form="help",
            tooltip="What every key does, and why not now"),
    Command(id="line", keys=("slash",), label="command", allowed=may_look, rank=1,
            tooltip="Type a command: a prefix of a verb, then what it is for"),
    Command(id="assign", keys=("s",), label="assign", allowed=may_assign, rank=2, act="assign", bulk=True,
            form='offer JOB [WORKER reason "words"]',
            tooltip="Offer the job to the best eligible worker (enter in pane 2)"),
    Command(id="override", keys=("o",), label="override", allowed=may_override, rank=3, act="override",
            form='force JOB WORKER reason "words"',
            tooltip="Choose the worker yourself, with a reason; audited"),
    Command(id="acknowledge", keys=("a",), label="ack", allowed=may_acknowledge, rank=4, act="triage", bulk=True,
            form="ack [ALERT]", tooltip="Acknowledge the alert"),
    Command(id="own", keys=("m",), label="own", allowed=may_triage, act="triage", bulk=True, form="own [ALERT]",
            tooltip="The alert is mine to solve"),
    Command(id="snooze", keys=("n",), label="snooze", allowed=may_triage, act="triage", bulk=True,
            form="snooze [ALERT] 10m", tooltip="Hide the alert for some minutes; asks how many"),
    Command(id="escalate", keys=("e",), label="escalate", allowed=may_triage, act="triage", bulk=True,
            form="escalate [ALERT]", tooltip="Raise the alert to severity 1"),
    Command(id="resolve", keys=("v",), label="resolve", allowed=may_triage, act="triage", bulk=True,
            form='resolve [ALERT] reason "words"', tooltip="Close the alert, with a reason"),
    Command(id="why", keys=("w",), label="why", allowed=may_see_job, rank=5, form="why [JOB]",
            tooltip="Every worker looked at, and why or why not"),
    Command(id="filter", keys=("f",), label="filter", allowed=always, rank=6, form="filter words",
            tooltip="Show only jobs with these words; skill: cell: due: and unassigned narrow further; esc clears it"),
    Command(id="unassigned", keys=("u",), label="unassigned", allowed=always, rank=7, form="unassigned",
            tooltip="Show only jobs that nobody has, or all again"),
    Command(id="find", keys=(), label="find", allowed=may_look, form="find words",
            tooltip="Search jobs, workers, offers and the audit; an id alone (/O-7KQ2) does too"),
    Command(id="go", keys=(), label="go", allowed=may_see_job, form="go JOB", tooltip="Put the cursor on a job"),
    Command(id="save", keys=(), label="save", allowed=always, form="save NAME", tooltip="Keep the filter by a name"),
    Command(id="recall", keys=(), label="recall", allowed=always, form="recall [NAME]",
            tooltip="Show the jobs of a filter that was kept, or the names of all"),
    Command(id="forget", keys=(), label="forget", allowed=always, form="forget NAME", tooltip="Drop a kept filter"),
    Command(id="withdraw", keys=("x",), label="withdraw", allowed=may_withdraw, rank=8, act="withdraw", bulk=True,
            form=f"withdraw {REASONED}", tooltip="Take the live offer back, with a reason"),
    Command(id="release", keys=("l",), label="release", allowed=may_release, rank=9, act="release", bulk=True,
            form=f"release {REASONED}", tooltip="Take the job from its worker, with a reason; it is offered on"),
    Command(id="reassign", keys=("r",), label="reassign", allowed=may_release, rank=10, act="reassign", bulk=True,
            form=f"reassign {REASONED}", tooltip="Release and give to the best other worker, with a reason"),
    Command(id="preempt", keys=("p",), label="preempt", allowed=may_preempt, act="preempt",
            form='preempt JOB FROM-JOB reason "words"',
            tooltip="Take the worker of a job of lower priority for this one, with a reason"),
    Command(id="accept", keys=(), label="accept", allowed=may_answer, act="accept", form="accept JOB",
            tooltip="Accept the offer on the worker's behalf"),
    Command(id="decline", keys=(), label="decline", allowed=may_answer, act="decline", form="decline JOB",
            tooltip="Decline the offer on the worker's behalf"),
    Command(id="start", keys=("b",), label="begin", allowed=may_start, act="start", form="start JOB",
            tooltip="Begin the job on its worker's behalf"),
    Command(id="finish", keys=("d",), label="done", allowed=may_finish, act="finish", form="finish JOB",
            tooltip="Finish the job on its worker's behalf"),
    Command(id="cancel", keys=("c",), label="cancel", allowed=may_cancel, rank=11, act="cancel", bulk=True,
            form=f"cancel {REASONED}", tooltip="End the job, with a reason"),
    Command(id="handoff", keys=(), label="handoff", allowed=may_handoff, act="handoff",
            form='handoff WORKER REGION reason "words"',
            tooltip="Move a worker, with their jobs, to another region; back instead of REGION takes back what waits"),
    Command(id="undo", keys=("U",), label="undo", allowed=may_undo, form="undo",
            tooltip="Take back what was just done, for some seconds and where the state still allows it"),
    Command(id="mark", keys=("space",), label="mark", allowed=may_mark, form="mark [JOB]",
            tooltip="Mark the job (pane 1: the alert) for an act on many; shift and arrows mark a range; esc unmarks"),
    Command(id="unmark", keys=(), label="unmark", allowed=may_unmark, form="unmark",
            tooltip="Unmark all jobs and alerts"),
    Command(id="sort", keys=("z",), label="sort", allowed=always, rank=12, form="sort",
            tooltip="Next order: urgency, due, priority, job"),
    Command(id="mute", keys=("M",), label="mute", allowed=always, form="mute",
            tooltip="Ring no bell for new alerts of severity 1, or ring again"),
    Command(id="lock", keys=("L",), label="lock", allowed=may_look, form="lock",
            tooltip="Cover the desk until an operator signs in"),
    Command(id="workers", keys=("W",), label="workers", allowed=may_look, rank=20, form="workers [words]",
            tooltip="Who is on shift, seen when, and booked for what"),
    Command(id="audit", keys=("A",), label="audit", allowed=may_look, rank=21, form="audit [JOB, offer, words]",
            tooltip="Who did what and why, and whether the chain is whole"),
    Command(id="figures", keys=("F",), label="figures", allowed=may_look, rank=22, form="figures",
            tooltip="The figures of the shift, with small plots"),
    Command(id="handover", keys=("H",), label="handover", allowed=may_look, rank=23, form="handover",
            tooltip="One digest for who comes next, to copy"),
    Command(id="settings", keys=("S",), label="settings", allowed=may_look, rank=24, form="settings",
            tooltip="The settings in force"),
    Command(id="tour", keys=("i",), label="tour", allowed=always, rank=25, form="tour",
            tooltip="The desk on one page, for the first time"),
    Command(id="rehearse", keys=("t",), label="rehearse", allowed=may_rehearse, rank=26, form="rehearse",
            tooltip="The rehearsal room: races on the real lease programs, step by step"),
    Command(id="panel", keys=("P",), label="trainer", allowed=may_stage, rank=27, form="trainer",
            tooltip="The trainer's panel of the demo: router, phones, dispatcher, clock, index; and its pace"),
    Command(id="theme", keys=("T",), label="theme", allowed=always, rank=14, form="theme",
            tooltip="Dark, light, Okabe-Ito"),
    Command(id="leave", keys=("q",), label="quit", allowed=always, rank=13, form="quit",
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
    (
        "space, shift+arrows",
        "mark jobs, or alerts in pane 1; the next act with its key is for all of them, after a dry run",
    ),
    ("esc", "back to jobs; unmarks; clears the filter"),
)

KEY_WORDS = {"question_mark": "?", "slash": "/"}


def shown_key(command: Command, state: DeskState | None = None) -> str:
    """The key as a person reads it: the user's own where the keymap says so; "" where it is only typed."""
    key = (state.keys.get(command.id) if state else None) or (command.keys[0] if command.keys else "")
    return KEY_WORDS.get(key, key)


def by_id(command_id: str) -> Command:
    return next(each for each in COMMANDS if each.id == command_id)
