"""Weights by version, and workers who leave."""

from tests.cli.shell import Shell


def test_a_policy_gets_a_new_version_and_its_reason_is_audited(shell: Shell) -> None:
    assert shell.json("policy")["version"] == 1
    assert shell.json("policy", "--set", "w_fair=5", "--note", "share the weekend") == {
        "version": 2, "w_eta": 1.0, "w_fair": 5.0, "w_slack": 0.25, "eta_band_min": 5,
    }  # fmt: skip
    assert "share the weekend" in shell("audit").out


def test_a_dispatcher_may_not_set_weights_and_an_unknown_one_is_named(shell: Shell) -> None:
    refused = shell("policy", "--set", "w_fair=5", "--role", "dispatcher")
    assert (refused.code, "may not policy" in refused.err) == (1, True)
    assert "w_luck" in shell("policy", "--set", "w_luck=5").err
    assert shell.json("policy")["version"] == 1


def test_a_weight_that_is_none_is_refused_and_never_rounded(shell: Shell) -> None:
    assert (
        "eta_band_min = 1.7: a whole number from 0 to 120 min is wanted"
        in shell("policy", "--set", "eta_band_min=1.7").err
    )
    for value in ("1e9", "nan", "-1"):
        refused = shell("policy", "--set", f"w_eta={value}")
        assert (refused.code, "a number from 0 to 1000 is wanted" in refused.err) == (1, True)
    assert shell.json("policy")["version"] == 1


def test_B124_a_worker_leaves_only_empty_handed(shell: Shell) -> None:
    assert shell.json("assign", "near")["outcome"] == "offered"
    holder = shell.json("offers")[0]["worker"]
    assert "still holds" in shell("leave", holder).err
    other = next(each for each in ("ana", "ben", "cy") if each != holder)
    assert shell.json("leave", other) == {"worker": other, "left": True}
    assert other not in [each["id"] for each in shell.json("workers")]


def test_a_backup_into_a_folder_that_is_not_there_says_so(shell: Shell) -> None:
    refused = shell("backup", "nowhere/copy.db")
    assert (refused.code, "there is no folder" in refused.err) == (1, True)
