"""Scenarios played to their end, as the tests compare them and `freeze` writes them down."""

from engine.rules.rehearsal import Tally
from engine.verbs.rehearsed import transcript
from fixtures.rehearsal import Programs, opened
from fixtures.script import Scenario


def told(scenario: Scenario, programs: Programs = Programs.SAFE) -> str:
    """The transcript of the scenario's own schedule, as its file keeps it."""
    with opened(scenario, programs) as house:
        for _ in house.player.play():
            pass
        lines = transcript(house.player.now, scenario.zone, house.rule, house.words)
        return "\n".join(each.text for each in lines) + "\n"


def counted(scenario: Scenario, programs: Programs = Programs.SAFE) -> Tally:
    with opened(scenario, programs) as house:
        return house.every(None)


def ends(tally: Tally) -> list[str]:
    """How it can end when nobody dies."""
    return sorted(end for end, _ in tally.outcomes if "died" not in end)


def doubles(tally: Tally) -> str:
    return f"{len(tally.violations)} of {tally.schedules}"
