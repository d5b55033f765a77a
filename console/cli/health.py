"""doctor: is this machine, this database and this site in order? Each check has a name, a verdict and a detail."""

import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from msgspec import Struct

from console.cli import show
from console.cli.call import Call, command, opened
from console.cli.trouble import DAMAGED, OK, REFUSED, told
from engine.ports import CallboardError, Damaged, Engine
from engine.rules.days import local, rfc3339, zone_named
from engine.rules.eta import CALIBRATED_FROM, calibrated_kmh
from engine.rules.nouns import Point
from engine.settings import Settings, load

WAL_SOUND_FROM = (3, 51, 3)
SPEED_OFF = 1.25
CLOCK_FROM_MS = 1_700_000_000_000
# File systems on which SQLite's shared memory and locks do not hold between machines.
REMOTE = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ncpfs", "fuse.sshfs", "fuse.s3fs", "glusterfs",
    "fuse.glusterfs", "ceph", "lustre", "davfs",
})  # fmt: skip


class Check(Struct, frozen=True, kw_only=True):
    name: str
    ok: bool
    detail: str


class DoctorDoc(Struct, frozen=True, kw_only=True):
    ok: bool
    checks: list[Check]


Named = tuple[str, Callable[[], tuple[bool, str]]]


@command("doctor", "doctor --db site.db\ndoctor --json --db site.db")
def doctor(call: Call) -> int:
    """Check the machine, the database and the site.

    Exit 1 where something is wrong, 3 where it is the database or its audit."""
    checks, code = [Check(name="python", ok=True, detail=f"{platform.python_version()} at {sys.executable}")], OK
    path = call.path()
    checks.append(_asked("filesystem", lambda: _filesystem(path)))
    try:
        with opened(call, writing=False) as engine:
            checks += _examined(engine)
    except Damaged as error:
        checks.append(Check(name="database", ok=False, detail=str(error)))
        code = DAMAGED
    ok = all(each.ok for each in checks)
    if any(not each.ok for each in checks if each.name in ("database", "audit chain")):
        code = DAMAGED
    if call.as_json:
        show.document(DoctorDoc(ok=ok, checks=checks))
    else:
        rows = [("ok" if each.ok else "WRONG", each.name, each.detail) for each in checks]
        show.table("doctor", ("", "check", "detail"), rows)
    return code if ok or code else REFUSED


def _examined(engine: Engine) -> list[Check]:
    named: list[Named] = [
        ("sqlite", lambda: _sqlite(engine)),
        ("database", lambda: _database(engine)),
        (
            "schema",
            lambda: (True, f"version {engine.store.versions()[1]}, {'training' if engine.store.training else 'live'}"),
        ),
        ("audit chain", lambda: _audit(engine)),
        ("side file", lambda: _side_file(engine)),
        ("disk space", lambda: _disk(engine)),
        ("zone", lambda: _zone(engine)),
        ("clock", lambda: _clock(engine)),
        ("operators", lambda: _operators(engine)),
        ("regions", lambda: _regions(engine)),
        ("stand-in", lambda: _stand_in(engine)),
    ]
    checks = [_asked(name, ask) for name, ask in named]
    for name, ok, detail in engine.road.self_test(_around(engine)):
        checks.append(Check(name=name, ok=ok, detail=detail))
    checks.append(Check(name="settings", ok=True, detail=_changed(engine.settings)))
    return checks


def _asked(name: str, ask: Callable[[], tuple[bool, str]]) -> Check:
    """A check that fails to answer is a check that is not ok."""
    try:
        ok, detail = ask()
    except (CallboardError, OSError) as error:
        ok, detail = False, told(error).message
    return Check(name=name, ok=ok, detail=detail)


# --- the machine -------------------------------------------------------------------------------------------------


def _filesystem(path: Path) -> tuple[bool, str]:
    kind = _mounted(path.absolute().parent)
    if kind in REMOTE:
        return (
            False,
            f"{kind}: SQLite's write-ahead log does not hold across machines; put the database on a local disk",
        )
    return True, kind or "not told by this system"


def _mounted(folder: Path) -> str:
    """The type of the file system a folder is on; empty where the system does not tell."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    real, best, kind = str(folder.resolve()), "", ""
    for line in lines:
        _, mount, found, *_ = line.split(" ")
        mount = mount.replace("\\040", " ")
        inside = real == mount or real.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, found
    return kind


def _sqlite(engine: Engine) -> tuple[bool, str]:
    version, _ = engine.store.versions()
    if tuple(int(part) for part in version.split(".")) < WAL_SOUND_FROM:
        return True, f"{version}: a checkpoint may race a writer before 3.51.3, so all are made under the writer lock"
    return True, version


def _disk(engine: Engine) -> tuple[bool, str]:
    free_mb = shutil.disk_usage(engine.store.path.parent).free // 1_000_000
    least = engine.settings.alert.disk_free_mb
    return free_mb >= least, f"{free_mb} MB free, at least {least} wanted"


# --- the database ------------------------------------------------------------------------------------------------


def _database(engine: Engine) -> tuple[bool, str]:
    faults = engine.store.integrity()
    size_mb = engine.store.path.stat().st_size / 1e6
    return not faults, "; ".join(faults[:5]) or f"sound, {size_mb:.1f} MB, no orphan rows"


def _audit(engine: Engine) -> tuple[bool, str]:
    found = engine.store.verify_audit(engine.tenant)
    if found.first_bad is not None:
        return False, f"broken at row {found.first_bad}"
    return True, f"whole, {found.rows} rows"


def _side_file(engine: Engine) -> tuple[bool, str]:
    return True, f"{len(engine.fixes.latest(engine.tenant))} latest positions"


def _zone(engine: Engine) -> tuple[bool, str]:
    zone, now_ms = engine.site.zone, engine.store.clock(engine.tenant).now_ms
    return zone_named(zone).key == zone, f"{zone}, {local(now_ms, zone):%z now}"


def _clock(engine: Engine) -> tuple[bool, str]:
    now_ms, zone = engine.store.clock(engine.tenant).now_ms, engine.site.zone
    newest = engine.store.newest_audit(engine.tenant, limit=1)
    shown = f"{rfc3339(now_ms, zone)}{' (training)' if engine.store.training else ''}"
    if newest and newest[0].at_ms > now_ms:
        return False, f"{shown} is before the newest audit row ({rfc3339(newest[0].at_ms, zone)}): it stepped back"
    return engine.store.training or now_ms > CLOCK_FROM_MS, shown


def _operators(engine: Engine) -> tuple[bool, str]:
    found = engine.store.rows(engine.tenant, "list_operators")
    if not found:
        return True, "none named: the desk asks nobody who they are (`run.py operator add`)"
    return True, ", ".join(f"{row['name']} ({row['role']})" for row in found)


def _regions(engine: Engine) -> tuple[bool, str]:
    now_ms = engine.store.clock(engine.tenant).now_ms
    told_of = [
        f"{each.id} epoch {each.epoch}, "
        + (f"held by {each.holder}" if each.holder and now_ms < each.lease_until_ms else "nobody dispatches")
        for each in engine.store.regions(engine.tenant)
    ]
    return True, "; ".join(told_of)


def _stand_in(engine: Engine) -> tuple[bool, str]:
    """Beside the speed in force what the road has said. The owner decides: nothing is changed behind their back."""
    eta = engine.settings.eta
    pairs = engine.store.road_memory(engine.tenant, limit=engine.settings.router.memory_pairs_max)
    found_kmh, n = calibrated_kmh(pairs, detour=eta.detour)
    if found_kmh is None:
        return True, f"{eta.speed_kmh:g} km/h; to calibrate it takes {CALIBRATED_FROM} remembered road times, {n} are"
    told = f"{eta.speed_kmh:g} km/h; the median of {n} remembered road times is {found_kmh:.0f} km/h"
    far = not 1 / SPEED_OFF <= found_kmh / eta.speed_kmh <= SPEED_OFF
    return True, f"{told}: [eta] speed_kmh = {found_kmh:.0f} would be nearer" if far else told


def _around(engine: Engine) -> Point | None:
    """A place of the site for the router's self-test; it is asked and never shown."""
    workers = engine.store.workers(engine.tenant)
    return workers[0].home if workers else None


def _changed(settings: Settings) -> str:
    """What differs from the defaults of dispatch.toml: all others are in force as it has them."""
    return ", ".join(_differences(settings)) or "all as in dispatch.toml"


def _differences(settings: Settings) -> Iterator[str]:
    ours, defaults = asdict(settings), asdict(load())
    for section, values in ours.items():
        for name, value in values.items():
            if value != defaults[section][name]:
                yield f"[{section}] {name} = {value!r}"


COMMANDS = {"doctor": doctor}
