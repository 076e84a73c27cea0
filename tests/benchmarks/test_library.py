"""The instance library: files follow from recipes, entries from their placements."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.library import (
    FOLDER,
    RECIPES,
    Attempt,
    best_known,
    better,
    faults,
    instances,
    load_instance,
    recipe_text,
)
from experiments.machine import Provenance
from scheduler.contract.result import Result
from scheduler.plan import plan

LARGEST_FILE_BYTES = 150_000
LARGEST_LIBRARY_BYTES = 2_000_000
ATTEMPT = Attempt("sequential-100", "someone, 1 s", Provenance("here", "2026-01-01", "abc"))


@pytest.mark.parametrize("name", RECIPES)
def test_an_instance_file_is_what_its_recipe_writes(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text() == recipe_text(name)


def test_files_are_small() -> None:
    sizes = [file.stat().st_size for file in FOLDER.iterdir()]
    assert max(sizes) <= LARGEST_FILE_BYTES
    assert sum(sizes) <= LARGEST_LIBRARY_BYTES


def test_every_instance_has_a_best_known_entry() -> None:
    assert sorted(best_known()) == instances()


@pytest.mark.parametrize("name", instances())
def test_a_stored_placement_is_feasible_and_worth_what_is_stored(name: str) -> None:
    """Evaluated anew: F, all raw metrics, the bound below, and the proof if one is claimed."""
    assert faults(name, best_known()[name]) == []


@pytest.mark.parametrize("name", instances())
def test_no_quick_strategy_beats_a_stored_bound(name: str) -> None:
    entry = best_known()[name]
    worth = plan(load_instance(name), "greedy").evaluation
    assert worth is not None
    assert entry["bound"] is None or worth.objective >= entry["bound"] - 1e-6


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"objective": 0.0}, "objective is"),
        ({"response_time_ms": 1.0}, "response_time_ms is"),
        ({"bound": 1.0}, "below the stored bound"),
        ({"proved": True, "bound": None}, "stored as proved"),
        ({"placement": {}}, "leaves operators out"),
    ],
)
def test_a_wrong_entry_is_named(change: dict[str, Any], sentence: str) -> None:
    wrong = best_known()["sequential-100"] | change
    assert any(sentence in each for each in faults("sequential-100", wrong))


def test_a_better_placement_replaces_the_stored_one_and_a_worse_one_does_not() -> None:
    problem = load_instance("sequential-100")
    worse, best = plan(problem, "even"), plan(problem, "local-search")
    first = better(ATTEMPT, problem, worse, None)
    assert first is not None
    second = better(ATTEMPT, problem, best, first)
    assert second is not None
    assert second["objective"] < first["objective"]
    assert faults("sequential-100", second) == []
    assert better(ATTEMPT, problem, worse, second) == second


def test_a_bound_that_reaches_the_value_makes_it_proved() -> None:
    problem = load_instance("sequential-100")
    found = plan(problem, "local-search")
    assert found.evaluation is not None
    entry = better(ATTEMPT, problem, _bounded(found, found.evaluation.objective), None)
    assert entry is not None
    assert entry["proved"]
    assert entry["proved_by"] == "someone, 1 s"


def test_contradictions_are_refused() -> None:
    """Neither a value below a proved bound nor a bound above a known value is stored."""
    problem = load_instance("sequential-100")
    found = plan(problem, "local-search")
    entry = better(ATTEMPT, problem, found, None)
    assert entry is not None
    with pytest.raises(ValueError, match="above the known F"):
        better(ATTEMPT, problem, _bounded(found, entry["objective"] + 0.1), entry)
    with pytest.raises(ValueError, match="below the bound"):
        better(ATTEMPT, problem, found, entry | {"bound": entry["objective"] + 0.1})


def _bounded(result: Result, bound: float) -> Result:
    return Result(
        result.placement, result.evaluation, bound, "feasible", result.reason, result.strategy, result.seed
    )
