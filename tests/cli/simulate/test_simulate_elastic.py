"""The command `stormplace simulate elastic`."""

from __future__ import annotations

import json

import pytest

from tests.experiments.elasticity.scenarios import SHIPPED

PAPER = SHIPPED / "paper-003.toml"
SHORT = """
duration_min = 3
[[component]]
name = "a"
slo_ms = 1000
cpu = 1
memory_mb = 1
service_ms = 500
source_per_s = 1
[offer.small]
cpu = 1
memory_mb = 1
billing_unit_s = 60
[load.even]
kind = "series"
values = [1]
every_s = 60
[policy.odd]
kind = "btu"
"""


@pytest.fixture
def short(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(SHORT, encoding="utf-8")
    return path


def test_json_has_all_minutes_and_the_whole(stormplace, short):
    status, out, err = stormplace("simulate", "elastic", short, "--policy", "odd", "--seed", "4", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert [found[key] for key in ("policy", "load", "offer", "seed")] == ["odd", "even", "small", 4]
    assert [each["until_s"] for each in found["periods"]] == [60.0, 120.0, 180.0]
    assert found["in_all"]["items"] == pytest.approx(180.0)
    assert found["in_all"]["components"] == ["a"]
    assert found["in_all"]["units"] == 3


def test_the_table_says_what_was_run(stormplace, short):
    status, out, _ = stormplace("simulate", "elastic", short, "--policy", "sized")
    assert status == 0
    assert "sized under even, hosts small, seed 0" in out
    assert "100.0%" in out
    assert "3 billing units of hosts cost 3; 0 leases" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "best"], f"{PAPER}: policy best: must be one of btu, threshold, sized"),
        (["--policy", "btu", "--load", "x"], f"{PAPER}: load x: must be one of stepwise, two-level, walk-1"),
        (["--policy", "btu", "--offer", "x"], f"{PAPER}: offer x: must be one of 10-minutes, 30-minutes"),
        (["--policy", "btu", "--parameters", "{"], "--parameters: is no JSON: "),
        (["--policy", "btu", "--parameters", "[]"], "--parameters: is no JSON object"),
        (["--policy", "btu", "--parameters", '{"queue": 1}'], f"{PAPER}: policy.btu.queue: unknown key"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(stormplace, arguments, message):
    status, out, err = stormplace("simulate", "elastic", PAPER, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"stormplace: {message}")
    assert err.count("\n") == 1


def test_a_file_that_is_not_there(stormplace, tmp_path):
    status, _, err = stormplace("simulate", "elastic", tmp_path / "none.toml", "--policy", "btu")
    assert status == 2
    assert err == f"stormplace: {tmp_path}/none.toml: cannot be read (No such file or directory)\n"
