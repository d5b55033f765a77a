"""Who may do what (SPEC 9). A person who may not is told so; somebody else's thing is not found."""

from engine.rules.nouns import Role

DISPATCHER_ACTS = frozenset(
    [
        "create",
        "assign",
        "override",
        "withdraw",
        "release",
        "reassign",
        "preempt",
        "cancel",
        "start",
        "finish",
        "accept",
        "decline",
        "triage",
        "why",
        "board",
        "takeover",
        "handoff",
        "import",  # jobs; workers and areas are the roster's
        "fixes",
    ]
)
SUPERVISOR_ACTS = DISPATCHER_ACTS | frozenset({"policy", "roster", "trace", "override_shift", "site"})

MAY: dict[Role, frozenset[str]] = {
    Role.WORKER: frozenset({"accept", "decline", "start", "finish", "fixes"}),
    Role.DISPATCHER: DISPATCHER_ACTS,
    Role.SUPERVISOR: SUPERVISOR_ACTS,
    Role.CUSTOMER: frozenset({"own_job"}),
    Role.TRAINER: SUPERVISOR_ACTS | {"clock", "rehearse"},
    Role.INTEGRATION: frozenset({"create", "fixes", "board"}),
    Role.AUTOMATIC: DISPATCHER_ACTS,
}


def may(role: Role, act: str) -> bool:
    return act in MAY[role]
