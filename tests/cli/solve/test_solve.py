from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cli.solve.strategy_parameters import read_parameters
from scheduler import registry

EXAMPLE = Path(__file__).parents[3] / "benchmarks" / "instances" / "sequential-100.json"
STRATEGIES = ("greedy", "greedy-no-penalty", "local-search", "even")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_example_is_solved_and_the_printed_worth_is_true(run: Any, strategy: str) -> None:
    """A hundred nodes, twenty operators: what is printed follows from the file and the placement."""
    status, out, err = run(EXAMPLE, "--strategy", strategy, "--json")
    answer = json.loads(out)
    instance = json.loads(EXAMPLE.read_text())
    nodes = {node["name"]: k for k, node in enumerate(instance["network"]["nodes"])}
    spots = instance["network"]["coordinates"]
    places = [
        spots[nodes[answer["placement"][each["name"]]]] for each in instance["application"]["operators"]
    ]
    delays = [
        sum((p - q) ** 2 for p, q in zip(a[:2], b[:2], strict=True)) ** 0.5 for a, b in pairwise(places)
    ]
    low, high = answer["range"]["response_time"]

    assert (status, err) == (0, "")
    assert answer["response_time_ms"] == pytest.approx(20 * 3.0 + sum(delays))
    assert answer["network_usage_bytes"] == pytest.approx(sum(100 * 100 * d / 1000 for d in delays))
    assert answer["objective"] == pytest.approx((answer["response_time_ms"] - low) / (high - low))
    assert (answer["strategy"], answer["seed"], answer["status"]) == (strategy, 0, "feasible")
    assert answer["bound"] is None
    assert answer["seconds"] >= 0


def test_the_answer_has_every_field(run: Any) -> None:
    """The JSON object is a contract: fields may be added, none may go or change places."""
    answer = json.loads(
        run(EXAMPLE, "--strategy", "greedy", "--json", "--seed", "5", "--time-limit", "10")[1]
    )

    assert answer["seed"] == 5
    known = (
        "placement", "objective", "response_time_ms", "availability", "network_usage_bytes",
        "inter_node_traffic_bytes_s", "cost", "migration_cost", "duration_excess_ms", "mean_delay_ms",
        "moves", "loading_s", "stay", "exceeded", "notes", "critical_path", "range", "bound", "gap", "status",
        "reason", "seconds", "strategy", "seed",
    )  # fmt: skip
    assert tuple(field for field in answer if field in known) == known


def test_without_json_tables_are_printed(run: Any) -> None:
    """A reader sees where every operator goes, and R with its unit."""
    status, out, _ = run(EXAMPLE, "--strategy", "local-search")

    assert status == 0
    assert all(f"operator-{k} " in out for k in range(1, 21))
    assert "response_time" in out
    assert " ms " in out
    assert "local optimum: no neighbour is better" in out


SMALL = {
    "application": {
        "operators": [{"name": "a", "execution_time_ms": 1}, {"name": "b", "execution_time_ms": 1}]
    },
    "network": {"nodes": [{"name": "[x]", "capacity": {"slots": 1}}], "delay_ms": [[0]]},
}


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_an_infeasible_instance_exits_with_3_and_the_reason(
    run: Any, tmp_path: Path, extra: list[str]
) -> None:
    """The reason goes to standard error; with --json the object says it too."""
    file = tmp_path / "small.json"
    file.write_text(json.dumps(SMALL))
    status, out, err = run(file, "--strategy", "greedy", *extra)
    reason = "operators a, b demand 2 slots, all nodes together have 1 (1 short)"

    assert status == 3
    assert err == f"stormplace: {file}: infeasible: {reason}\n"
    if extra:
        answer = json.loads(out)
        assert (answer["status"], answer["reason"], answer["placement"]) == ("infeasible", reason, None)
    else:
        assert out == ""


def test_control_characters_in_a_name_are_shown_and_not_obeyed(run: Any, tmp_path: Path) -> None:
    """In the tables, in the reason and in what refuses a file."""
    file = tmp_path / "one.json"
    operators = [{"name": "a\x1b[2J", "execution_time_ms": 1}]
    file.write_text(json.dumps(SMALL | {"application": {"operators": operators}}))
    status, out, _ = run(file, "--strategy", "even")
    assert status == 0
    assert r"a\x1b[2J" in out
    assert "\x1b" not in out
    file.write_text(json.dumps(SMALL | {"application": {"operators": operators * 2}}))
    err = run(file, "--strategy", "even")[2]
    assert r'"a\x1b[2J" is the name of' in err
    assert "\x1b" not in err


def test_names_are_printed_as_they_are(run: Any, tmp_path: Path) -> None:
    """Square brackets in a name are no markup."""
    file = tmp_path / "one.json"
    file.write_text(
        json.dumps(SMALL | {"application": {"operators": [{"name": "a", "execution_time_ms": 1}]}})
    )

    assert "[x]" in run(file, "--strategy", "even")[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes (line 1, column 2)"),
        ("[" * 100_000, "objects are nested too deeply"),
        ('{"application": 1, "application": 2}', 'the key "application" is given twice in one object'),
        ('{"application": {}, "network": {}}', '$.network: "nodes" is missing'),
        ("[1]", "$: expected an object, got an array"),
        (b"\xff", "not a UTF-8 text (byte 0)"),
        (
            "1" * 5000,
            "not JSON: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits",
        ),
    ],
)
def test_a_bad_file_exits_with_2_and_one_sentence(
    run: Any, tmp_path: Path, text: str | bytes, message: str
) -> None:
    """The sentence names the file and the place, and there is no trace."""
    file = tmp_path / "bad.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    status, out, err = run(file, "--strategy", "greedy")

    assert (status, out) == (2, "")
    assert err == f"stormplace: {file}: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--strategy is missing; the strategies are auto, greedy, "),
        (["--strategy", "tabu"], '--strategy: unknown strategy "tabu"; the strategies are auto, greedy, '),
        (
            ["--strategy", "even", "--time-limit", "0"],
            "--time-limit: expected a number of seconds > 0, got 0",
        ),
        (
            ["--strategy", "even", "--time-limit", "nan"],
            "--time-limit: expected a number of seconds > 0, got nan",
        ),
    ],
)
def test_bad_options_exit_with_2(run: Any, arguments: list[str], message: str) -> None:
    """Options are checked before anything is solved."""
    status, out, err = run(EXAMPLE, *arguments)

    assert (status, out) == (2, "")
    assert err.startswith(f"stormplace: {message}")


def test_a_missing_file_and_a_folder_are_named(run: Any, tmp_path: Path) -> None:
    """What the system says is passed on with the path."""
    missing = tmp_path / "none.json"

    assert run(missing, "--strategy", "even")[0::2] == (
        2,
        f"stormplace: {missing}: No such file or directory\n",
    )
    assert run(tmp_path, "--strategy", "even")[0::2] == (2, f"stormplace: {tmp_path}: Is a directory\n")


def test_an_empty_name_is_no_folder(run: Any) -> None:
    """As a path it would be the working folder."""
    assert run("", "--strategy", "even") == (2, "", "stormplace: the name of a file is empty\n")


def test_standard_input_is_read_for_a_dash() -> None:
    """The same answer as from the file; and what is wrong with it is said of standard input."""
    with EXAMPLE.open("rb") as piped:
        done = _piped(stdin=piped)
    assert json.loads(done.stdout)["status"] == "feasible"
    refused = _piped(input=b"{")
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"stormplace: /dev/stdin: not JSON: ")


def _piped(**stdin: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cli.main", "solve", "-", "--strategy", "greedy", "--json"]
    return subprocess.run(command, capture_output=True, check=False, **stdin)


def test_the_help_shows_that_a_strategy_is_needed_and_which_there_are(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that are registered."""
    monkeypatch.setenv("COLUMNS", "200")
    status, out, _ = run("--help")
    words = " ".join(line.strip("│ ") for line in out.partition("--strategy")[2].splitlines())
    named = f"One of {', '.join(registry.STRATEGIES)}."

    assert status == 0
    assert named in " ".join(words.split())
    assert "[required]" in words.partition("--seed")[0]


def test_the_example_is_what_its_script_writes(tmp_path: Path) -> None:
    """The instance file can be made again, byte for byte."""
    script = EXAMPLE.parents[1] / "make_instance.py"
    copy = tmp_path / script.name
    copy.write_text(script.read_text())
    subprocess.run([sys.executable, copy], check=True)

    assert (tmp_path / "instances" / EXAMPLE.name).read_text() == EXAMPLE.read_text()


def test_a_parameter_that_is_set_holds_under_a_time_limit_too() -> None:
    """A time limit changes the defaults of a strategy, not what the user says."""
    entry = registry.STRATEGIES["ils"]
    assert read_parameters(entry, [], until_deadline=True).patience is None
    assert read_parameters(entry, ["patience=7"], until_deadline=True).patience == 7
    assert read_parameters(entry, []).patience == entry.parameters().patience
