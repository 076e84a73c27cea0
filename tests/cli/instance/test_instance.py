"""The command `stormplace instance generate`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cli.main import main
from scheduler.instances.document import parse_instance
from scheduler.instances.generators.paper import OBJECTIVES, paper_problem
from scheduler.instances.writing import to_document

if TYPE_CHECKING:
    from pathlib import Path

PAPER = ("--application", "sequential", "--network", "two-level", "--nodes", "36")


@pytest.fixture
def generate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run `stormplace instance generate ...` in this process; returns status and standard error."""

    def run(*arguments: str | Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["stormplace", "instance", "generate", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        return int(caught.value.code or 0), capsys.readouterr().err

    return run


def test_the_written_problem_is_the_papers_up_to_rounding(generate: Any, tmp_path: Path) -> None:
    file = tmp_path / "made.json"
    assert generate(*PAPER, "--seed", "4", "--weights", "equal", "--output", file) == (0, "")
    written = parse_instance(json.loads(file.read_text()))
    wanted = paper_problem("sequential", 36, OBJECTIVES["equal"], 4)
    assert np.allclose(written.network.delay_ms, wanted.network.delay_ms, atol=1e-4)
    assert to_document(written)["application"] == to_document(wanted)["application"]
    assert written.objective.weights == wanted.objective.weights


@pytest.mark.parametrize(
    "options",
    [
        (*PAPER, "--weights", "R"),
        ("--application", "replicated", "--network", "geographic", "--nodes", "40", "--operators", "11"),
        ("--application", "layered", "--network", "geographic", "--nodes", "40", "--sites", "3",
         "--layers", "2", "--density", "0.8", "--speedup", "0.5,1,2", "--slots", "2,4", "--cost", "1,3",
         "--weights", "response_time=0.5,cost=0.5"),
    ],
)  # fmt: skip
def test_the_same_options_write_the_same_file_and_another_seed_another_one(
    generate: Any, tmp_path: Path, options: tuple[str, ...]
) -> None:
    first, again, other = (tmp_path / name for name in ("first", "again", "other"))
    for file, seed in ((first, "1"), (again, "1"), (other, "2")):
        assert generate(*options, "--seed", seed, "--output", file) == (0, "")
        parse_instance(json.loads(file.read_text()))
    assert first.read_text() == again.read_text() != other.read_text()


def test_an_existing_file_is_replaced_only_by_force(generate: Any, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_text("mine")
    status, error = generate(*PAPER, "--output", file)
    assert (status, error) == (2, f"stormplace: {file}: exists already; --force replaces it\n")
    assert file.read_text() == "mine"
    assert generate(*PAPER, "--output", file, "--force") == (0, "")
    parse_instance(json.loads(file.read_text()))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (("--application", "ring"), "--application: expected one of"),
        (("--network", "star"), "--network: expected one of"),
        (("--nodes", "37"), "--nodes: expected a square number"),
        (("--nodes", "-1"), "--nodes: expected at least 1, got -1"),
        (("--nodes", "250000"), "--nodes: expected at most 100000, got 250000"),
        (("--nodes", "10000"), "--nodes: expected at most 4096 with a matrix of delays, got 10000"),
        (("--operators", "1000000000"), "--operators: expected at most 100000"),
        (("--application", "replicated", "--operators", "20000"), "--operators: expected fewer: 88"),
        (("--application", "layered", "--operators", "99999"), "--operators: expected fewer: "),
        (("--network", "geographic", "--sites", "99"), "--nodes: expected at least one per site (99)"),
        (("--network", "geographic", "--sites", "0"), "--sites: expected at least 1"),
        (("--operators", "1"), "--operators: expected at least 2"),
        (("--application", "replicated", "--operators", "6"), "--operators: expected 3 l + 2"),
        (("--application", "layered", "--layers", "0"), "--layers: expected at least 1"),
        (("--application", "layered", "--density", "2"), "--density: expected a number from 0 to 1"),
        (("--seed", "-3"), "--seed: expected a number >= 0, got -3"),
        (("--weights", "x"), "--weights: expected A, R, Z, equal or a list"),
        (("--weights", "response_time=a"), '--weights: expected a number, got "a"'),
        (("--weights", "response_time=0.4"), "--weights: expected a sum of 1, got 0.4"),
        (("--weights", "speed=1"), "--weights: unknown metric"),
        (("--weights", "cost=0.5,cost=0.5"), "--weights: expected"),
        (("--slots", "1"), "--slots: no node has the 2 slots"),
        (("--slots", "two"), '--slots: expected a number, got "two"'),
        (("--speedup", "0"), "--speedup: expected a number >= "),
        (("--cost", "nan"), "--cost: expected a number >= 0, got nan"),
    ],
)
def test_bad_values_are_refused_in_one_sentence(
    generate: Any, tmp_path: Path, changed: tuple[str, ...], sentence: str
) -> None:
    """Exit status 2, the option is named, and nothing is written."""
    file = tmp_path / "none.json"
    status, error = generate(*PAPER, *changed, "--output", file)
    assert status == 2
    assert error.startswith(f"stormplace: {sentence}")
    assert error.count("\n") == 1
    assert not file.exists()


def test_a_folder_that_does_not_exist_is_named(generate: Any, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "made.json"
    assert generate(*PAPER, "--output", file) == (2, f"stormplace: {file}: No such file or directory\n")
