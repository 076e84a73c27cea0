"""The taxi query as what is scaled: its settings, its rows when they are due, and its answers."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cli.experiment.experiment_elasticity import DATA
from experiments.errors import ExperimentError
from experiments.lab_elasticity.kept import Items
from experiments.lab_elasticity.lab_elasticity_settings import LabElasticitySettings
from experiments.lab_elasticity.loop_settings import loop_settings
from experiments.lab_elasticity.variants import VariantTurn
from experiments.lab_elasticity.workloads import feed_rows, taxi_query
from experiments.lab_elasticity.workloads.chosen import BY_NAME
from experiments.lab_elasticity.workloads.workload import BEGINS
from experiments.topologies.taxi_query import count_rows
from provisioning.measuring.redis_lag import RedisLagSettings
from provisioning.settings_file import load_elastic_settings
from replay.output import MARK
from tests.topologies.conftest import redis_server
from tests.topologies.taxi.workers import Workers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.topologies.conftest import RedisServer

__all__ = ("redis_server",)
TAXI = BY_NAME["taxi"]
SETTINGS = LabElasticitySettings(
    data=DATA,
    sites=TAXI.sites,
    workload="taxi",
    load="steps",
    run_s=720.0,
    warm_up_s=60.0,
    unit_rate=3.3,
    bound_s=10.0,
    billing_unit_s=120.0,
    kills=0,
    seed=2,
    settle_s=0.0,
)


@pytest.mark.parametrize("load", ["steps", "levels", "taxi"])
def test_each_load_fits_the_lab_and_the_rows(load: str) -> None:
    usual = TAXI.profiles[load]  # type: ignore[index]
    settings = replace(SETTINGS, load=load, run_s=usual.run_s, unit_rate=usual.unit_rate)  # type: ignore[arg-type]
    assert settings.site_file
    assert settings.static_hosts == 4
    assert len(settings.due_s()) > 9000


def test_more_items_than_there_are_rows_are_refused() -> None:
    assert TAXI.most_items == count_rows(taxi_query.ROWS) - taxi_query.PROBES
    with pytest.raises(
        ExperimentError, match=r"--unit-rate: \d+ items are due, and the workload taxi has 46426"
    ):
        replace(SETTINGS, load="taxi", run_s=3600.0, unit_rate=4.0).due_s()


def test_the_loop_knows_what_a_row_takes_and_which_rows_wait(tmp_path: Path) -> None:
    path = tmp_path / "elastic.toml"
    text = loop_settings(SETTINGS, VariantTurn("sized", 1), tmp_path / "state", tmp_path / "lab")
    path.write_text(text, encoding="utf-8")
    topology = load_elastic_settings(path).topology["taxi"]
    assert topology.lag[0].counter == ("taxi:sized-1:feed", "fed")  # type: ignore[union-attr]
    assert {name: each.service_ms for name, each in topology.component.items() if each.max != 1} == {
        "parser": 100.0,
        "filterByCoordinates": 100.0,
        "computeRouteID": 100.0,
    }


def test_rows_come_when_they_are_due(
    tmp_path: Path,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Through all components as processes; the items are those rows that have a result."""
    address = str(redis_server.address)
    due, out, answers = tmp_path / "due.json", tmp_path / "items.json", tmp_path / "answers"
    due_s = [-0.5 + 0.01 * k for k in range(120)]
    due.write_text(json.dumps(due_s), encoding="utf-8")
    command = ["feed_rows", "--redis", address, "--run", "sized-1", "--rows", str(taxi_query.ROWS)]
    command += ["--due", str(due), "--out", str(out), "--answers", str(answers)]
    monkeypatch.setattr(sys, "argv", command)
    workers = tmp_path / "workers"
    workers.mkdir()
    lag = RedisLagSettings.model_validate({**TAXI.lag("sized-1"), "address": address}).reader()
    with Workers(workers, address, "sized-1"):
        feed_rows.main()
        found = lag.lag()
    items = Items.model_validate_json(out.read_bytes())
    assert (found.waiting, found.arrived) == (0.0, 144.0)
    assert [number for number, _ in items.arrived] == list(range(len(items.due_us)))
    assert len(items.due_us) > 100
    assert {(each - items.start_us) / 1e6 for each in items.due_us} <= {round(each, 6) for each in due_s}
    assert all(at_us >= each - 2000 for (_, at_us), each in zip(items.arrived, items.due_us, strict=True))
    assert len((answers / taxi_query.FED).read_bytes().splitlines()) == 144
    assert capsys.readouterr().out.startswith(f"{BEGINS} at ")


def test_rows_without_a_result_are_lost_only_if_not_all_are_worked_off() -> None:
    due_s, results = [-1.0, 0.0, 1.0], [(24, 7), (25, 1_000), (27, 3_000)]
    expected = {"start_us": 2_000_000, "due_us": [1_000_000, 3_000_000]}
    assert feed_rows.items(due_s, 1_000, results, complete=True) == {
        **expected,
        "arrived": [(0, 1_000_000), (1, 3_000_000)],
    }
    assert feed_rows.items(due_s, 1_000, results, complete=False) == {
        "start_us": 2_000_000,
        "due_us": [1_000_000, 2_000_000, 3_000_000],
        "arrived": [(0, 1_000_000), (2, 3_000_000)],
    }


def test_wrong_answers_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those expected are computed from the rows that were fed, once."""
    sources = []

    def evaluated(_expected: Path, folders: list[Path], source: Path | None) -> None:
        sources.append(source)
        for folder in folders:
            wrong = [] if folder.parent.name == "a" else [{"row": 7, "sentence": "row 7 differs"}]
            text = json.dumps({"equal": not wrong, "differences": wrong})
            (folder / "verdict.json").write_text(text, encoding="utf-8")

    monkeypatch.setattr(taxi_query, "evaluate_runs", evaluated)
    for name in "ab":
        (tmp_path / name / "answers").mkdir(parents=True)
    turns = [tmp_path / "a", tmp_path / "b"]
    assert TAXI.wrong(tmp_path / "expected", turns) == [None, "row 7 differs"]
    (tmp_path / "expected").mkdir()
    (tmp_path / "expected" / MARK).touch()
    TAXI.wrong(tmp_path / "expected", turns)
    assert sources == [tmp_path / "a" / "answers" / "rows.csv", None]
