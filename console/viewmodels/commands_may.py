"""What a command is judged on, and why not now: each reason in words a dispatcher can act on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from console.viewmodels.rows import ACCEPTED, IN_PROGRESS, OFFERED, TERMINAL, WAITING, AlertRow, JobRow

NOT_OPEN = "the database is not open yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What was typed after a verb. ``reason`` and ``words`` are both there or both empty; ``text``: the free text;
    ``back``: what waits is taken back, instead of a ``region``."""

    line: str = ""
    worker_id: str = ""
    other_job: str = ""
    region: str = ""
    back: bool = False
    reason: str = ""
    words: str = ""
    minutes: int = 0
    text: str = ""
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskState:
    """What a command is judged on: the pane with the focus, and what its cursor is on.

    ``acts``: what the role at the desk may do, None before anybody is known; ``marked``, ``marked_alerts``: jobs and
    alerts marked for a bulk act; ``keys``: keys that the user's keymap changed, by command; ``typed``: None where a key
    was pressed; ``undo``: what can be taken back now, or ""; ``training``, ``demo``: what kind of site this is;
    ``regions``: those that it has."""

    ready: bool
    readonly: bool
    pane: str
    job: JobRow | None
    alert: AlertRow | None
    role: str = ""
    acts: frozenset[str] | None = None
    marked: tuple[JobRow, ...] = ()
    marked_alerts: tuple[AlertRow, ...] = ()
    keys: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(dict[str, str]()))
    typed: Typed | None = None
    undo: str = ""
    training: bool = False
    demo: bool = False
    regions: tuple[str, ...] = ()


May = Callable[[DeskState], str | None]


def always(_: DeskState) -> str | None:
    return None


def may_look(state: DeskState) -> str | None:
    return None if state.ready else NOT_OPEN


def may_see_job(state: DeskState) -> str | None:
    if not state.ready:
        return NOT_OPEN
    return "no job is selected" if state.job is None else None


def on_job(judge: Callable[[JobRow], str | None]) -> May:
    """A judge of acts on one job, after what stands against all of them."""

    def may(state: DeskState) -> str | None:
        if (wrong := may_see_job(state)) is not None or state.job is None:
            return wrong
        return f"{state.job.id} has left the list" if state.job.gone else judge(state.job)

    return may


def _word(job: JobRow) -> str:
    return job.state.replace("_", " ").lower()


@on_job
def may_assign(job: JobRow) -> str | None:
    if job.state == OFFERED:
        return f"{job.id} is offered to {job.worker}: their offer stands until its time"
    return None if job.state in WAITING else f"{job.id} is {_word(job)}: only a waiting job is assigned"


@on_job
def may_override(job: JobRow) -> str | None:
    if job.state == ACCEPTED:
        return f"{job.id} is held by {job.worker}: release (l) or reassign (r) it"
    return None if job.state in WAITING or job.state == OFFERED else f"{job.id} is {_word(job)}"


@on_job
def may_answer(job: JobRow) -> str | None:
    return None if job.state == OFFERED else f"{job.id} is {_word(job)}: it has no offer to answer"


@on_job
def may_withdraw(job: JobRow) -> str | None:
    return None if job.state == OFFERED else f"{job.id} is {_word(job)}: it has no offer to withdraw"


@on_job
def may_release(job: JobRow) -> str | None:
    if job.state == IN_PROGRESS:
        return f"{job.id} is in progress with {job.worker}: finish or cancel it"
    return None if job.state == ACCEPTED else f"{job.id} is {_word(job)}: nobody holds it"


@on_job
def may_preempt(job: JobRow) -> str | None:
    return None if job.state in WAITING else f"{job.id} is {_word(job)}: only a waiting job takes another's worker"


@on_job
def may_start(job: JobRow) -> str | None:
    if job.state == IN_PROGRESS:
        return f"{job.id} is in progress with {job.worker} already"
    return None if job.state == ACCEPTED else f"{job.id} is {_word(job)}: nobody holds it"


@on_job
def may_finish(job: JobRow) -> str | None:
    return None if job.state == IN_PROGRESS else f"{job.id} is {_word(job)}: it is not in progress"


@on_job
def may_cancel(job: JobRow) -> str | None:
    return f"{job.id} is {_word(job)} already" if job.state in TERMINAL else None


@on_job
def _may_mark_job(job: JobRow) -> str | None:
    return None


def may_mark(state: DeskState) -> str | None:
    if state.pane == "alerts" and state.typed is None:
        return may_triage(state)
    return _may_mark_job(state)


def may_unmark(state: DeskState) -> str | None:
    return None if state.marked or state.marked_alerts else "nothing is marked"


def may_triage(state: DeskState) -> str | None:
    if not state.ready:
        return NOT_OPEN
    if state.alert is None:
        nothing = "no alert is selected" if state.pane == "alerts" or state.job is None else ""
        where = nothing or "there is no alert on this job"
        return f"{where}: choose one in pane 1"
    return None


def may_acknowledge(state: DeskState) -> str | None:
    if (wrong := may_triage(state)) is not None or state.alert is None:
        return wrong
    return f"{state.alert.id} is acknowledged by {state.alert.acked_by} already" if state.alert.acked_by else None


def may_handoff(state: DeskState) -> str | None:
    if not state.ready:
        return NOT_OPEN
    return None if len(state.regions) > 1 else "this site has one region only: there is no other to go to"


def may_undo(state: DeskState) -> str | None:
    return None if state.undo else "there is nothing to undo, or its time has passed"


def may_rehearse(state: DeskState) -> str | None:
    if not state.ready:
        return NOT_OPEN
    return None if state.training else "only from the desk of a training site; elsewhere `run.py rehearse`"


def may_stage(state: DeskState) -> str | None:
    if not state.ready:
        return NOT_OPEN
    return None if state.demo else "only on the demo site (`run.py demo`): nothing befalls a site of yours"
