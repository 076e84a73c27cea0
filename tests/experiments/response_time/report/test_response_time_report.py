"""The experiment's report: rows whose way is known come out again as legs, sums, table and pictures."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import matplotlib.image
import pandas as pd
import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from experiments.response_time.report.figures import draw_boxes
from experiments.response_time.report.response_time_goals import targets
from experiments.response_time.report.response_time_report import build, markdown
from experiments.response_time.report.summary import summarise
from replay.analysis.breakdown import parts
from replay.analysis.measured_rows import CLOCK
from replay.errors import DataError, MachineError
from tests.experiments.response_time.response_time_runs import (
    ABROAD,
    BEST,
    HOME,
    HOP_MS,
    MEASURED,
    NEAR,
    WAIT_MS,
    WARM_UP_MS,
    WORK_MS,
    turns,
    write_turn,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_warm_up_is_cut_off(tmp_path: Path) -> None:
    """Rows of the warm-up are 10 s late here, and no measured one is."""
    write_turn(tmp_path, "odp", BEST)
    (turn,) = turns(tmp_path)
    assert len(turn.rows) == MEASURED
    assert turn.end_to_end_ms.max() < WARM_UP_MS


def test_the_picture_explains_its_colours_and_marks_whiskers_that_go_on(tmp_path: Path) -> None:
    """Rows are high enough for their boxes; a whisker beyond the closer look has its end as a number."""
    for repetition in (1, 2, 3):
        write_turn(tmp_path, "odp", BEST, repetition=repetition)
    write_turn(tmp_path, "ras", BEST, repetition=1)
    kept = write_turn(tmp_path, "ras", BEST, repetition=2) / "results.csv"
    table = pd.read_csv(kept)
    table.loc[table.index[-8:], "result_ms"] += 500
    table.to_csv(kept, index=False)
    variants = summarise(turns(tmp_path))

    drawn = draw_boxes(tmp_path / "boxes.png", variants)

    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *("Stormplace's strategies", "Storm's own schedulers", "predicted", "mean that the paper states"),
    ]
    (slow,) = [turn for turn in turns(tmp_path) if turn.end_to_end_ms.max() > 500]
    near = drawn.axes[1]
    marks = [text.get_text() for text in near.texts if "\u25b6" in text.get_text()]
    assert marks == [f"{slow.end_to_end_ms.quantile(0.95):.0f} ms \u25b6"]
    boxes = [patch.get_window_extent() for patch in near.patches]
    assert len(boxes) == 5
    assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    assert min(box.height for box in boxes) > 0.15 * drawn.dpi


def test_legs_come_out_as_they_went_in(tmp_path: Path) -> None:
    """Every hop is split into the network's part, by the site file, and the rest."""
    write_turn(tmp_path, "odp", BEST)
    (turn,) = turns(tmp_path)
    legs = {leg.name: leg for leg in turn.legs}
    hop = legs["filterByCoordinates - computeRouteID"]
    assert (hop.network_ms, hop.place) == (22.0, f"{HOME} - {NEAR}")
    assert legs["countByWindow - partialRank"].place == "one worker"
    assert legs["dataSource - parser"].place == f"hosts of {HOME}"
    assert all(leg.rest_ms == pytest.approx(HOP_MS, abs=2e-3) for leg in turn.legs if leg.kind == "hop")
    assert all(
        leg.median_ms == pytest.approx(WORK_MS, abs=2e-3) for leg in turn.legs if leg.kind == "component"
    )
    assert legs["wait for metronome"].median_ms == pytest.approx(WAIT_MS, abs=2e-3)
    # 2 x 22 ms, two hops between hosts of one site, twice between Redis and the first host
    whole = parts(turn.legs)
    assert whole.network == pytest.approx(44.0 + 4 * 0.25)
    assert whole.storm == pytest.approx(6 * HOP_MS, abs=0.01)
    assert whole.python == pytest.approx(6 * WORK_MS, abs=0.01)
    assert sum(leg.median_ms for leg in turn.legs) == pytest.approx(turn.end_to_end_ms.median(), abs=0.01)


def test_a_row_that_finds_the_metronomes_half_there_does_not_wait(tmp_path: Path) -> None:
    folder = write_turn(tmp_path, "odp", BEST)
    trails = pd.read_csv(folder / "trails.csv")
    trails[CLOCK] = trails["countByWindow_in_us"] - 500
    trails.to_csv(folder / "trails.csv", index=False)
    (turn,) = turns(tmp_path)
    legs = {leg.name: leg.median_ms for leg in turn.legs}
    assert legs["wait for metronome"] == 0.0
    assert legs["countByWindow"] == pytest.approx(WAIT_MS + WORK_MS, abs=2e-3)


def test_traffic_counts_each_stream_between_sites_and_the_ways_to_redis(tmp_path: Path) -> None:
    """Four streams of the best placement cross, all behind the filter, where rejected rows do not count.

    A query that is elsewhere as a whole gets each row from Redis' site, and sends back those that pass.
    """
    for folder in (write_turn(tmp_path, "odp", BEST), write_turn(tmp_path, "even", ABROAD)):
        for name in ("results.csv", "trails.csv"):
            table = pd.read_csv(folder / name)
            table[table["n"] % 2 == 0].to_csv(folder / name, index=False)
    even, odp = turns(tmp_path)
    assert odp.traffic_per_s == pytest.approx(4 * 5.0)
    assert even.traffic_per_s == pytest.approx(10.0 + 5.0)
    assert odp.sites == (NEAR, HOME)


@pytest.mark.parametrize(
    ("variant", "status", "placing_ms"),
    [
        (
            "ras",
            "Running - Fully Scheduled by DefaultResourceAwareStrategy (8 states traversed in 24 ms, "
            "backtracked 0 times)",
            24.0,
        ),
        ("even", "", None),
        ("ras", "Fully Scheduled", None),
        ("odp", "kept: frozen; rates measured in 3 ms", 7.0),
    ],
)
def test_the_time_for_placing_is_the_daemons_or_what_the_scheduler_says(
    tmp_path: Path, variant: str, status: str, placing_ms: float | None
) -> None:
    write_turn(tmp_path, variant, BEST, scheduler_status=status)
    (turn,) = turns(tmp_path)
    assert turn.placing_ms == placing_ms
    variants = summarise([turn])
    text = markdown(variants, targets(variants), {turn.label: "map.png"})
    row = next(line for line in text.splitlines() if line.startswith(f"| {variant} |"))
    assert row.split(" | ")[-3] == ("-" if placing_ms is None else f"{placing_ms:.0f}")


def test_a_report_that_cannot_be_written_is_no_fault_of_the_kept_files(tmp_path: Path) -> None:
    write_turn(tmp_path, "odp", BEST)
    (tmp_path / "report").touch()
    with pytest.raises(MachineError, match="report: cannot be written: "):
        build(tmp_path)


def test_the_report_shows_every_variant_and_each_placement_once(tmp_path: Path) -> None:
    """From the kept files alone, and again with the same result."""
    write_turn(tmp_path, "odp", BEST)
    write_turn(tmp_path, "odp", BEST, repetition=2)
    write_turn(tmp_path, "even", ABROAD, wrong="tops | 7")
    write_turn(tmp_path, "even", BEST, repetition=2)
    (tmp_path / "turns" / "even-2" / "verdict.json").unlink()
    (tmp_path / "turns" / "interrupted-1").mkdir()
    text = build(tmp_path).read_text(encoding="utf-8")
    files = sorted(path.name for path in (tmp_path / "report").iterdir())
    maps = ["map-even-1.png", "map-even-2.png", "map-odp-1.png"]
    assert files == [*maps, "parts.png", "report.json", "report.md", "response-times.png"]
    rows = [line for line in text.splitlines() if line.startswith(("| odp |", "| even |"))]
    assert [cell.strip() for cell in rows[0].split(" | ")][-2:] == ["right", "55 |"]
    assert "tops \\| 7 / not checked" in rows[1]
    assert "us-east1 / europe-west3, uniroma2" in rows[1]
    assert "Status line: placed by odp" in text
    assert "4 turns of 2 of 12 variants (not res-odp, " in text
    document = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert [each["variant"] for each in document["variants"]] == ["odp", "even"]
    assert matplotlib.image.imread(tmp_path / "report" / "map-odp-1.png").shape[1] > 400
    assert build(tmp_path).read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda turn: (turn / "done.json").write_text("{}"), r"done\.json: variant: Field required"),
        (lambda turn: (turn / "done.json").unlink(), "no turn has come to its end"),
        (lambda turn: (turn / "trails.csv").unlink(), r"trails\.csv: no such file"),
        (
            lambda turn: (turn / "trails.csv").write_text("n\n1\n"),
            r"trails\.csv: line 1: column parser_in_us",
        ),
        (lambda turn: (turn / "results.csv").write_text(""), r"results\.csv: no table"),
        (lambda turn: edit(turn / "results.csv", "row_ms", 0.5), "row_ms: a value is not a whole number"),
        (lambda turn: edit(turn / "trails.csv", "n", 7), "its rows are not those of results.csv"),
        (lambda turn: (turn / "planned.json").unlink(), r"planned\.json: no such file"),
        (lambda turn: (turn.parents[1] / "experiment.json").unlink(), "no experiment's folder"),
    ],
)
def test_kept_files_that_are_missing_or_malformed_are_named(tmp_path: Path, spoil: Any, message: str) -> None:
    spoil(write_turn(tmp_path, "odp", BEST))
    with pytest.raises(DataError, match=message):
        turns(tmp_path)
    done = CliRunner().invoke(app, ["experiment", "report", str(tmp_path)])
    assert isinstance(done.exception, UserError)
    assert done.exception.status == 2


def edit(path: Path, column: str, value: float) -> None:
    table = pd.read_csv(path).astype({column: type(value)})
    table.loc[0, column] = value
    table.to_csv(path, index=False)
