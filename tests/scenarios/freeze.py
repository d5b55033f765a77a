"""Write down what scenarios come to now: `python -m tests.scenarios.freeze [FILE.toml …]`, then read the difference.

For a lease program that was changed on purpose, and for a new scenario. What it writes is only as good as its reader.
"""

import re
import sys
from pathlib import Path

from fixtures import scenarios
from fixtures.rehearsal import Programs
from fixtures.scenarios import HERE
from fixtures.script import Scenario
from tests.scenarios.plays import counted, doubles, ends, told

EXPECTED = re.compile(r"\n\[expected\]\n.*\Z", re.DOTALL)


def freeze(path: Path) -> None:
    text = EXPECTED.sub("", path.read_text(encoding="utf-8")).rstrip() + "\n"
    path.write_text(text, encoding="utf-8")
    scenario = scenarios.found(path.stem if path.parent == HERE else str(path))
    path.write_text(text + "\n[expected]\n" + "".join(_expected(scenario)), encoding="utf-8")


def _expected(scenario: Scenario) -> list[str]:
    made = [_long("transcript", told(scenario))]
    if scenario.is_race:
        made.append("ends = [\n" + "".join(f'    "{each}",\n' for each in ends(counted(scenario))) + "]\n")
    if scenario.naive is not None:
        made += [_long("naive", told(scenario, Programs.BARE)), _long("guarded", told(scenario, Programs.GUARDED))]
        made.append(f'naive_doubles = "{doubles(counted(scenario, Programs.BARE))}"\n')
    return made


def _long(key: str, text: str) -> str:
    assert "'''" not in text
    return f"{key} = '''\n{text}'''\n"


if __name__ == "__main__":
    for each in [Path(name).resolve() for name in sys.argv[1:]] or sorted(HERE.glob("*.toml")):
        freeze(each)
        print(each.name)
