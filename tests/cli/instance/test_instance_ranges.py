"""The command `stormplace instance ranges`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.main import main
from scheduler.instances.document import parse_instance
from scheduler.instances.generators.paper import paper_problem
from scheduler.instances.writing import to_document

if TYPE_CHECKING:
    from collections.abc import Callable

LONG_S = 60.0
SMALL = {
    "application": {
        "operators": [
            {"name": "source", "execution_time_ms": 2, "allowed": ["x"]},
            {"name": "count", "execution_time_ms": 4.00001},
        ],
        "streams": [{"from": "source", "to": "count", "rate": 10, "tuple_bytes": 100}],
    },
    "network": {
        "nodes": [
            {"name": "x", "capacity": {"slots": 1}, "availability": 0.9},
            {"name": "y", "capacity": {"slots": 1}, "availability": 0.8},
            {"name": "z", "capacity": {"slots": 1}, "speedup": 2, "availability": 0.99},
        ],
        "delay_ms": [[0, 10.123456, 20], [11, 0, 30], [21, 31, 0]],
    },
    "objective": {
        "weights": {"response_time": 0.5, "availability": 0.5},
        "range": {"response_time": [1, 2], "cost": [0, 1]},
    },
}


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(SMALL))
    return file


@pytest.fixture
def ranges(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run `stormplace instance ranges ...` in this process; returns status and both outputs."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["stormplace", "instance", "ranges", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        output = capsys.readouterr()
        return int(caught.value.code or 0), output.out, output.err

    return run


def test_the_written_instance_differs_by_its_ranges_only(ranges: Any, instance: Path, tmp_path: Path) -> None:
    """No number is rounded; given ranges are replaced; a metric without a width has none."""
    file = tmp_path / "ranged.json"
    assert ranges(instance, "--out", file)[0] == 0
    written, wanted = json.loads(file.read_text()), to_document(parse_instance(SMALL))
    found = written["objective"].pop("range")
    del wanted["objective"]["range"]

    assert written == wanted
    assert found == {
        "response_time": [pytest.approx(2 + 4.00001 + 10.123456), pytest.approx(2 + 4.00001 / 2 + 20)],
        "availability": [pytest.approx(0.9 * 0.8), pytest.approx(0.9 * 0.99)],
        "network_usage": [pytest.approx(10.123456), pytest.approx(20.0)],
    }
    assert parse_instance(json.loads(file.read_text())).ranges["response_time"] == tuple(
        found["response_time"]
    )


def test_the_table_says_what_is_proved_and_the_steps_how_far_it_is(
    ranges: Any, instance: Path, tmp_path: Path
) -> None:
    """One line per metric, the best end first; one step per end on standard error."""
    file = tmp_path / "ranged.json"
    _, table, steps = ranges(instance, "--out", file)
    rows = {
        cells[0]: cells[1:]
        for line in table.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("│").split("│")]) == 5
    }
    assert rows["availability"] == ["0.891", "proved", "0.72", "proved"]
    assert rows["network_usage"] == ["10.1235 bytes", "proved", "20 bytes", "proved"]
    assert rows["inter_node_traffic"] == ["1000 bytes/s", "proved", "the same", "no range"]
    assert steps.splitlines()[:2] == ["[1/8] availability: worst", "[2/8] network_usage: worst"]
    assert len(steps.splitlines()) == 8


def test_what_time_does_not_suffice_to_prove_is_a_bound(ranges: Any, tmp_path: Path) -> None:
    """It is written all the same, and is no tighter than what holds for every placement."""
    instance, file = tmp_path / "paper.json", tmp_path / "ranged.json"
    problem = paper_problem("replicated", 36, {"response_time": 1.0}, 0)
    instance.write_text(json.dumps(to_document(problem)))
    status, table, _ = ranges(instance, "--out", file, "--time-limit", "1e-9")

    assert status == 0
    assert "bound" in table
    usage = json.loads(file.read_text())["objective"]["range"]["network_usage"]
    assert usage == list(problem.ranges["network_usage"])


def test_an_existing_file_is_replaced_only_by_force(ranges: Any, instance: Path) -> None:
    """Also if it is the instance itself, which is read before."""
    before = instance.read_text()
    status, _, error = ranges(instance, "--out", instance)
    assert (status, error) == (2, f"stormplace: {instance}: exists already; --force replaces it\n")
    assert instance.read_text() == before
    assert ranges(instance, "--out", instance, "--force")[0] == 0
    assert "inter_node_traffic" not in json.loads(instance.read_text())["objective"]["range"]


def test_a_file_that_cannot_be_written_keeps_its_content(
    ranges: Any, instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is left beside it."""

    def full(_beside: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    before = instance.read_text()
    monkeypatch.setattr(Path, "replace", full)
    status, _, error = ranges(instance, "--out", instance, "--force")
    assert status == 2
    assert error.endswith(f"stormplace: {instance}: No space left on device\n")
    assert instance.read_text() == before
    assert list(instance.parent.iterdir()) == [instance]


def _without_room(document: Any) -> None:
    document["network"]["nodes"] = document["network"]["nodes"][:1]
    document["network"]["delay_ms"] = [[0]]


def _without_name(document: Any) -> None:
    del document["network"]["nodes"][1]["name"]


@pytest.mark.parametrize(
    ("spoil", "status", "sentence"),
    [
        (_without_room, 3, "infeasible: operators source, count demand 2 slots, all nodes together have 1"),
        (_without_name, 2, '$.network.nodes[1]: "name" is missing'),
    ],
)
def test_a_problem_without_answer_is_refused_in_one_sentence(
    ranges: Any, tmp_path: Path, spoil: Callable[[Any], None], status: int, sentence: str
) -> None:
    """Bad input and infeasible problems; nothing is written."""
    document = json.loads(json.dumps(SMALL))
    spoil(document)
    instance, file = tmp_path / "bad.json", tmp_path / "ranged.json"
    instance.write_text(json.dumps(document))
    got, _, error = ranges(instance, "--out", file)
    assert got == status
    assert error.splitlines()[-1].startswith(f"stormplace: {instance}: {sentence}")
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--time-limit", "0", "--out", "new"), "--time-limit: expected a number of seconds > 0, got 0"),
        (("--time-limit", "nan", "--out", "new"), "--time-limit: expected a number of seconds > 0, got nan"),
        (("--out", "nowhere/new"), "nowhere/new: No such file or directory"),
        (("--out", ".", "--force"), ".: Is a directory"),
    ],
)
def test_bad_options_are_refused_before_anything_is_solved(
    ranges: Any,
    instance: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    """Exit status 2 and one sentence."""
    monkeypatch.chdir(instance.parent)
    assert ranges(instance, *arguments) == (2, "", f"stormplace: {sentence}\n")


def test_ctrl_c_ends_it_with_nothing_written(tmp_path: Path) -> None:
    """Not even the file that was there is touched."""
    instance, file = tmp_path / "paper.json", tmp_path / "ranged.json"
    instance.write_text(json.dumps(to_document(paper_problem("replicated", 100, {"cost": 1.0}, 0))))
    file.write_text("mine")
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "instance", "ranges", instance, "--out", file, "--force"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=LONG_S)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert error.splitlines()[-1] == "stormplace: interrupted: nothing was written"
    assert file.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == [instance, file]
