"""Alerts in a person's hands: acknowledge, own, snooze, escalate, resolve. Each is audited."""

from engine import records
from engine.ports import Engine, Invalid, NotFound, Stale
from engine.program import Lost
from engine.records import Why
from engine.rules.ledger import Alert
from engine.rules.nouns import Actor
from engine.verbs.assign import require

ACTS = tuple(records.TRIAGE)


def triage(engine: Engine, actor: Actor, act: str, alert_id: str, *, for_min: int = 0, words: str = "") -> Alert:
    """Do one of ACTS to an open alert; ``for_min`` with snooze. Raises NotFound, Invalid, Stale."""
    require(actor, "triage")
    if act not in records.TRIAGE:
        raise Invalid(f"{act}: one of {', '.join(ACTS)} is wanted")
    if act == "snooze" and not 0 < for_min <= 24 * 60:
        raise Invalid(f"minutes {for_min}: 1 to {24 * 60} is wanted to snooze for")
    before = engine.store.alert(engine.tenant, alert_id)
    if before is None:
        raise NotFound(f"alert {alert_id}: not found")
    program = records.triage(actor, act, alert_id, for_ms=for_min * 60_000, why=Why(words=words))
    if isinstance(engine.store.run(engine.tenant, program), Lost):
        now = engine.store.alert(engine.tenant, alert_id) or before
        said = f"acknowledged by {now.acked_by}" if now.open else "resolved"
        raise Stale(f"alert {alert_id} is {said} already")
    return engine.store.alert(engine.tenant, alert_id) or before
