"""Alerts: listed, and in a person's hands."""

import click

from console.cli import show
from console.cli.call import ACTOR, ROLE, Call, actor, command, opened
from console.cli.tables import alerts_table
from console.cli.trouble import OK
from console.cli.wire import alert_doc
from engine.verbs import board as see
from engine.verbs.triage import ACTS, triage

SNOOZE_MIN = 15


@command("alerts", "alerts --db site.db")
def alerts(call: Call) -> int:
    """List the open alerts, worst first."""
    with opened(call, writing=False) as engine:
        found, zone = see.alerts(engine, actor(engine, None)), engine.site.zone
        now_ms = engine.store.clock(engine.tenant).now_ms
    if call.as_json:
        show.document([alert_doc(each, zone) for each in found])
    else:
        alerts_table("open alerts", found, zone, now_ms)
    return OK


@command("alert", "alert ack A-9 --actor ana --db site.db\nalert snooze A-9 --for 15 --actor ana --db site.db")
@click.argument("act", type=click.Choice(ACTS))
@click.argument("alert_id", metavar="ID")
@click.option("--for", "for_min", metavar="MIN", type=click.IntRange(1, 24 * 60), default=SNOOZE_MIN, show_default=True,
              help="How long to snooze, in minutes.")  # fmt: skip
@click.option("--note", metavar="TEXT", default="", help="Words for the audit.")
@ACTOR
@ROLE
def alert(call: Call, act: str, alert_id: str, for_min: int, note: str, actor_name: str | None, role: str) -> int:
    """Acknowledge, own, snooze, escalate or resolve an alert; audited."""
    minutes = for_min if act == "snooze" else 0
    with opened(call) as engine:
        who, zone = actor(engine, actor_name, role), engine.site.zone
        found = triage(engine, who, act, alert_id, for_min=minutes, words=note)
        now_ms = engine.store.clock(engine.tenant).now_ms
    if call.as_json:
        show.document(alert_doc(found, zone))
    else:
        alerts_table(f"{act}: done", [found], zone, now_ms)
    return OK


COMMANDS = {"alerts": alerts, "alert": alert}
