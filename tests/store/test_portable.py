"""The shared schema and every statement are understood by PostgreSQL too. Needs its server programs; skips without."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.store.statements import SCHEMA, statements

pytestmark = pytest.mark.long
CLOCK = "CREATE VIEW clock (now_ms) AS SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT);"
BIND = re.compile(r"(?<![:\w]):([a-z_]\w*)")
ONLY_TRAINING = {"set_clock"}


def programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found and shutil.which("psql") else None


@pytest.fixture
def server() -> Iterator[Path]:
    """A PostgreSQL of the test's own, on a socket in its own folder, by no network."""
    where = programs()
    if where is None:
        pytest.skip("no PostgreSQL server programs here")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        as_user = ["su", "postgres", "-c"] if os.getuid() == 0 else ["sh", "-c"]
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        control = f"{where}/pg_ctl -D {folder}/data -o '-k {folder} -c listen_addresses='"
        subprocess.run([*as_user, f"{where}/initdb -D {folder}/data -A trust"], check=True, capture_output=True)
        subprocess.run([*as_user, f"{control} -l {folder}/log -w start"], check=True, capture_output=True)
        try:
            yield folder
        finally:
            subprocess.run([*as_user, f"{control} -m immediate stop"], check=True, capture_output=True)


def prepared(name: str, body: str) -> str:
    order = list(dict.fromkeys(BIND.findall(body)))
    numbered = BIND.sub(lambda each: f"${order.index(each.group(1)) + 1}", body)
    return f"PREPARE {name} AS {numbered};\n\\echo {name}"


def test_schema_and_statements_prepare_on_postgresql(server: Path) -> None:
    shared = SCHEMA.read_text(encoding="utf-8").split("-- dialect:")[0]
    wanted = {name: body for name, body in statements().items() if name not in ONLY_TRAINING}
    script = "\n".join([shared, CLOCK, *(prepared(name, body) for name, body in wanted.items())])
    command = ["psql", "-h", str(server), "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1"]
    done = subprocess.run(command, input=script, text=True, capture_output=True, check=False)
    assert done.stderr == ""
    assert done.stdout.split() == list(wanted)
