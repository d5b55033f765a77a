"""Who may sit at the desk: named operators with a role and a passphrase. A site without operators asks nobody.

The passphrase is kept as an argon2id hash. Whoever may write the database file may name operators: the file's own
rights are the outer door, this is the inner one."""

from dataclasses import dataclass
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from engine import records
from engine.ports import Engine, Forbidden, Invalid, NotFound, Stale
from engine.program import Lost
from engine.rules.nouns import Actor, Role
from engine.verbs.assign import require

DESK_ROLES = (Role.DISPATCHER, Role.SUPERVISOR, Role.TRAINER)
PASSPHRASE_MIN = 8
PASSPHRASE_MAX = 1_000
NAME_MAX = 60
TRAINING_ONLY = "trainers work on training sites only, and this one is live"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    name: str
    role: Role


def operators(engine: Engine) -> tuple[Operator, ...]:
    found = engine.store.rows(engine.tenant, "list_operators")
    return tuple(Operator(name=str(row["name"]), role=Role(str(row["role"]))) for row in found)


def add(engine: Engine, actor: Actor, name: str, role: str, passphrase: str) -> Operator:
    """Name an operator, or give a known one another role and passphrase. Raises Forbidden, Invalid, Stale."""
    require(actor, "site")
    name = name.strip()
    if not name or not name.isprintable() or len(name) > NAME_MAX:
        raise Invalid(f"name {name!r}: 1 to {NAME_MAX} printable letters are wanted")
    if role not in DESK_ROLES:
        raise Invalid(f"role {role!r}: one of {', '.join(DESK_ROLES)} is wanted")
    if role == Role.TRAINER and not engine.store.training:
        raise Forbidden(f"role trainer: {TRAINING_ONLY} (`init FILE --training` makes one)")
    if not PASSPHRASE_MIN <= len(passphrase) <= PASSPHRASE_MAX:
        raise Invalid(f"a passphrase of {PASSPHRASE_MIN} to {PASSPHRASE_MAX} letters is wanted")
    done = engine.store.run(engine.tenant, records.set_operator(actor, name, role, _hasher().hash(passphrase)))
    if isinstance(done, Lost):
        raise Stale(f"operator {name} changed meanwhile; try again")
    return Operator(name=name, role=Role(role))


def remove(engine: Engine, actor: Actor, name: str) -> None:
    """Take an operator away. The last one gone, the desk asks nobody again. Raises Forbidden, NotFound."""
    require(actor, "site")
    if isinstance(engine.store.run(engine.tenant, records.drop_operator(actor, name)), Lost):
        raise NotFound(f"operator {name}: not found")


def sign_in(engine: Engine, name: str, passphrase: str) -> Operator | None:
    """The operator, if name and passphrase are right. Every outcome is audited; an unknown name costs as long as a
    wrong passphrase, and is answered the same. Raises Forbidden for a trainer at a live site (named there earlier)."""
    found = engine.store.rows(engine.tenant, "read_operator", operator=name.strip())
    kept = str(found[0]["passphrase"]) if found else _nobody()
    right = _matches(kept, passphrase[:PASSPHRASE_MAX]) and bool(found)
    who = Operator(name=str(found[0]["name"]), role=Role(str(found[0]["role"]))) if right else None
    astray = who is not None and who.role is Role.TRAINER and not engine.store.training
    if not engine.store.readonly:
        said = who or Operator(name=name.strip()[:NAME_MAX] or "nobody", role=Role.DISPATCHER)
        actor = Actor(name=said.name, role=said.role, tenant=engine.tenant)
        engine.store.run(engine.tenant, records.sat_down(actor, "sign in refused" if astray or not who else "sign in"))
    if astray:
        raise Forbidden(TRAINING_ONLY)
    return who


def _matches(kept: str, passphrase: str) -> bool:
    try:
        return _hasher().verify(kept, passphrase)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _hasher() -> PasswordHasher:
    """argon2id with the library's defaults (64 MiB, 3 passes): about 0.2 s a try."""
    return PasswordHasher()


@cache
def _nobody() -> str:
    """The hash of nothing, to be tried for an unknown name."""
    return _hasher().hash("")
