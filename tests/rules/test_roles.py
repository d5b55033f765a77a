"""Who may do what, as a table to read beside SPEC 9."""

import pytest

from engine.rules.nouns import Role
from engine.rules.roles import MAY, may

DESK = {Role.DISPATCHER, Role.SUPERVISOR, Role.TRAINER, Role.AUTOMATIC}
OFFICE = {Role.SUPERVISOR, Role.TRAINER}
ACTS = {
    "accept": DESK | {Role.WORKER},
    "decline": DESK | {Role.WORKER},
    "start": DESK | {Role.WORKER},
    "finish": DESK | {Role.WORKER},
    "fixes": DESK | {Role.WORKER, Role.INTEGRATION},
    "create": DESK | {Role.INTEGRATION},
    "assign": DESK,
    "override": DESK,
    "withdraw": DESK,
    "release": DESK,
    "reassign": DESK,
    "preempt": DESK,
    "cancel": DESK,
    "triage": DESK,
    "why": DESK,
    "board": DESK | {Role.INTEGRATION},
    "import": DESK,
    "takeover": DESK,
    "handoff": DESK,
    "policy": OFFICE,
    "roster": OFFICE,
    "trace": OFFICE,
    "override_shift": OFFICE,
    "own_job": {Role.CUSTOMER},
    "clock": {Role.TRAINER},
    "rehearse": {Role.TRAINER},
}


@pytest.mark.parametrize("act", ACTS)
def test_exactly_these_roles_may(act: str) -> None:
    assert {role for role in Role if may(role, act)} == ACTS[act]


def test_every_role_has_its_line_and_an_unknown_act_is_nobodys() -> None:
    assert set(MAY) == set(Role)
    assert not any(may(role, "fly") for role in Role)


def test_a_customer_sees_no_worker_and_no_board() -> None:
    assert MAY[Role.CUSTOMER] == {"own_job"}
