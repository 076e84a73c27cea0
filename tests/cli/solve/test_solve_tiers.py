from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[3] / "benchmarks" / "instances" / "tiers" / "worked-example.json"


def changed(tmp_path: Path, *path: str | int, value: object) -> Path:
    """The worked example with another value at a place."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def test_the_answer_states_costs_tiers_and_what_was_added(run: Any) -> None:
    status, out, _ = run(FILE, "--strategy", "inop-comb-2", "--json")
    answer = json.loads(out)

    assert status == 0
    assert (answer["placement_cost"], answer["link_cost"], answer["total_cost"]) == (89, 121, 105)
    assert answer["objective"] == pytest.approx(105)
    assert answer["tiers"] == {"edge": 2, "fog": 3, "cloud": 0}
    assert answer["added"] == {
        "allowed": {},
        "pinned": {"a.o1": "e2", "b.o3": "e2"},
        "colocated": [["b.o4", "b.o5"]],
    }
    assert answer["overfull"] == []


def test_tables_state_what_was_added(run: Any) -> None:
    pins = run(FILE, "--strategy", "inop-comb-2")[1]
    restricted = run(FILE, "--strategy", "inop-restrict")[1]

    assert "Added: pinned a.o1@e2, b.o3@e2\nAdded: together b.o4+b.o5\n" in pins
    assert "Added: restricted a.o1, a.o2, b.o3, b.o4, b.o5\n" in restricted
    assert "Added" not in run(FILE, "--strategy", "inop-exact")[1]


def test_overfull_links_are_named(run: Any, tmp_path: Path) -> None:
    file = changed(tmp_path, "network", "links", 5, "bandwidth_bytes_per_s", value=11)
    answer = json.loads(run(file, "--strategy", "cloud-greedy", "--json")[1])

    assert answer["overfull"] == [{"link": "f2-e2", "bytes_per_s": 17, "bandwidth_bytes_per_s": 11}]
    assert "Overfull: f2-e2 has 11 bytes/s and carries 17" in run(file, "--strategy", "cloud-greedy")[1]


def test_a_pin_that_leaves_nothing_exits_with_3_and_names_what_is_in_its_way(
    run: Any, tmp_path: Path
) -> None:
    file = changed(tmp_path, "network", "links", 5, "bandwidth_bytes_per_s", value=11)
    status, _, err = run(file, "--strategy", "inop-pin", "--json")

    assert status == 3
    assert "pin a.o1@e2 (inop-pin) against bandwidth f2-e2 11" in err
    assert "without what inop-pin adds there is a placement" in err


def test_a_limit_of_latency_that_cannot_be_kept_exits_with_3_and_the_least(run: Any, tmp_path: Path) -> None:
    """Operators take 1 ms each in the file."""
    file = changed(tmp_path, "application", "latency_limit_ms", value={"a.snk": 17})
    status, _, err = run(file, "--strategy", "inop-exact", "--json")

    assert status == 3
    assert "results reach a.snk after 18 ms at the least" in err


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("network", "links", 0, "between"),
            ["c1", "c9"],
            '$.network.links[0].between[1]: "c9" is not a node',
        ),
        (("network", "links", 0, "cost"), -1, "$.network.links[0].cost: expected a number >= 0, got -1"),
        (
            ("network", "links", 3, "bandwidth_bytes_per_s"),
            -5,
            "$.network.links[3].bandwidth_bytes_per_s: expected a number >= 0, got -5",
        ),
        (("network", "links"), [], "$.network.links: no route leads from node c1 to node c2"),
        (
            ("network", "bandwidth_sum"),
            "both",
            '$.network.bandwidth_sum: expected "link" or "pair" or "none"',
        ),
        (("network", "delay_ms"), [], '$.network: expected one of "delay_ms", "coordinates", "links"'),
        (
            ("network", "nodes", 0, "tier"),
            "sky",
            '$.network.nodes[0].tier: expected "edge" or "fog" or "cloud"',
        ),
        (("network", "nodes", 0, "unit_cost"), -1, "$.network.nodes[0].unit_cost: expected a number >= 0"),
        (("network", "nodes", 0, "relay"), 1, "$.network.nodes[0].relay: expected true or false, got 1"),
        (
            ("application", "operators", 2, "placement_cost"),
            [1.0],
            "$.application.operators[2].placement_cost: expected 6 values, one per node, got 1",
        ),
        (
            ("application", "operators", 2, "placement_cost"),
            {"e9": 1.0},
            '$.application.operators[2].placement_cost.e9: "e9" is not a node of the network',
        ),
        (
            ("application", "operators", 2, "placement_cost"),
            -2,
            "$.application.operators[2].placement_cost: expected a number >= 0, got -2",
        ),
        (
            ("application", "operators", 2, "role"),
            "bolt",
            '$.application.operators[2].role: expected "source" or "operator" or "sink", got "bolt"',
        ),
        (
            ("application", "colocate"),
            [["a.o1", "x"]],
            '$.application.colocate[0][1]: "x" is not an operator',
        ),
        (("application", "colocate"), [["a.o1"]], "$.application.colocate[0]: expected two or more"),
        (("application", "latency_limit_ms"), {"x": 1}, "$.application.latency_limit_ms.x: no operator"),
        (
            ("application", "latency_limit_ms"),
            {"a.snk": -1},
            "$.application.latency_limit_ms.a.snk: expected",
        ),
    ],
)
def test_bad_input_exits_with_2_and_its_place(
    run: Any, tmp_path: Path, path: tuple[str | int, ...], value: object, message: str
) -> None:
    status, out, err = run(changed(tmp_path, *path, value=value), "--strategy", "inop-exact", "--json")

    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("change", "strategy", "message"),
    [
        (
            (("network", "nodes", 2, "tier"), None),
            "inop-restrict",
            "network.nodes[2].tier is missing (f1): inop-restrict looks at the tiers of nodes",
        ),
        (
            (("application", "colocate"), [["a.o2", "b.o3", "b.o4", "b.o5", "a.o1", "a.src1"]]),
            "inop-exact",
            "have to share a node, and none allowed for them has room for all",
        ),
        (
            (("application", "colocate"), [["a.src1", "a.src2"]]),
            "inop-exact",
            "operators a.src1, a.src2 have to share a node, and none is allowed for all of them",
        ),
        ((("application", "operators", 2, "allowed"), []), "cloud-greedy", "a.o1"),
    ],
)
def test_what_cannot_be_exits_with_3_and_the_reason(
    run: Any, tmp_path: Path, change: tuple[tuple[str | int, ...], object], strategy: str, message: str
) -> None:
    path, value = change
    status, _, err = run(changed(tmp_path, *path, value=value), "--strategy", strategy, "--json")

    assert status == 3
    assert message in err
