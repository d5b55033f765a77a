"""The site's weights: what is in force, and the next version of it."""

import click

from console.cli import show
from console.cli.call import ACTOR, Call, actor, command, opened
from console.cli.explain import read_weights
from console.cli.roster import SUPERVISOR
from console.cli.trouble import OK
from console.cli.wire import policy_doc
from engine.verbs.site import set_policy
from engine.verbs.why import WEIGHTS


@command("policy", "policy --db site.db\npolicy --set w_fair=5 --note 'share the weekend out' --db site.db")
@click.option("--set", "weights", metavar="NAME=VALUE,…", default="", help=f"A new version: {', '.join(WEIGHTS)}.")
@click.option("--note", metavar="TEXT", default="", help="Why, for the audit.")
@ACTOR
@SUPERVISOR
def policy(call: Call, weights: str, note: str, actor_name: str | None, role: str) -> int:
    """Show the weights in force, or put a new version in force. Earlier decisions keep theirs."""
    with opened(call) as engine:
        if weights:
            set_policy(engine, actor(engine, actor_name, role), read_weights(weights), note)
        now = engine.store.policy(engine.tenant)
    if call.as_json:
        show.document(policy_doc(now))
    else:
        values = ", ".join(f"{name} {getattr(now, name):g}" for name in WEIGHTS)
        show.line(f"policy {now.version}: {values}; set by {now.set_by}")
    return OK


COMMANDS = {"policy": policy}
