"""The experiment's report: rows whose way is known come out again as legs, sums, table and pictures."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.image
import pandas as pd
import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from replay.errors import DataError
from replay.response_time.breakdown import parts
from replay.response_time.report import build
from replay.response_time.rows import CLOCK, STAMPS
from replay.response_time.summary import summarise, targets
from replay.response_time.turns import read_turns
from replay.sites import read_sites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.response_time.turns import TurnData

SITES = Path(__file__).resolve().parents[2] / "lab" / "sites" / "response-time.toml"
COMPONENTS = (
    *("dataSource", "parser", "filterByCoordinates", "computeRouteID", "metronome"),
    *("countByWindow", "partialRank", "globalRank"),
)
HOME, NEAR, FAR = "uniroma2", "europe-west3", "us-east1"
BEST = (f"{HOME}-1", f"{HOME}-2", f"{HOME}-2", *(f"{NEAR}-1",) * 2, *(f"{HOME}-3",) * 2, f"{HOME}-1")
ABROAD = (f"{FAR}-1",) * 8
HOP_MS, WORK_MS, WAIT_MS, REDIS_MS = 1.5, 0.2, 3.0, 1.0
FAST, WARM_UP, MEASURED = 5, 5, 40
WARM_UP_MS = 10_000.0


def write_turn(
    out: Path, variant: str, hosts: Sequence[str], repetition: int = 1, slower_ms: float = 0.0
) -> Path:
    """Write what a turn leaves; each leg takes the network's delay and the constants above."""
    sites = read_sites(SITES)
    folder = out / "turns" / f"{variant}-{repetition}"
    folder.mkdir(parents=True)
    where = dict(zip(COMPONENTS, hosts, strict=True))
    way = [name for name in COMPONENTS if name != "metronome"]
    now_us, stamps = 0.0, {}
    for before, after in pairwise(way):
        apart = where[before] != where[after]
        delay = sites.between_ms(sites.hosts[where[before]], sites.hosts[where[after]]) if apart else 0.0
        now_us += (HOP_MS + delay) * 1000
        stamps[f"{after}_in_us"] = now_us
        if after == "countByWindow":
            now_us += WAIT_MS * 1000
            stamps[CLOCK] = now_us
        now_us += WORK_MS * 1000
        stamps[f"{after}_out_us"] = now_us
    ends = [
        sites.between_ms(HOME, sites.hosts[where[name]]) + REDIS_MS for name in ("dataSource", "globalRank")
    ]
    results, trails = [], []
    for n in range(1, FAST + WARM_UP + MEASURED + 1):
        late_ms = slower_ms if n > FAST + WARM_UP else WARM_UP_MS
        row_ms = 1_000_000 + 100 * n
        emit_us = row_ms * 1000 + round((ends[0] + late_ms) * 1000)
        done_us = emit_us + round(stamps["globalRank_out_us"])
        result_ms = round(done_us / 1000 + ends[1])
        results.append([n, row_ms, emit_us, done_us, result_ms, int(n > FAST)])
        trails.append([n, *(round(stamps[name]) for name in (*STAMPS, CLOCK))])
    columns = ["n", "row_ms", "emit_us", "done_us", "result_ms", "paced"]
    pd.DataFrame(results, columns=columns).to_csv(folder / "results.csv", index=False)
    pd.DataFrame(trails, columns=["n", *STAMPS, CLOCK]).to_csv(folder / "trails.csv", index=False)
    executors = [
        {"component": c, "first_task": t, "last_task": t, "host": h, "port": 6700}
        for t, (c, h) in enumerate(where.items(), start=2)
    ]
    put(folder / "placement.json", {"id": "taxi-1", "executors": executors})
    put(folder / "verdict.json", {"equal": True, "differences": []})
    ours = variant not in ("even", "default", "ras")
    counts = {"fast_rows": FAST, "warm_up_rows": WARM_UP, "measured_rows": MEASURED}
    origin = {"machine": "2 cores", "date": "2026-11-21", "commit": "abc123", "busy": 0.4}
    name = {"variant": variant, "repetition": repetition, "strategy": variant if ours else None}
    put(folder / "done.json", name | counts | origin | {"scheduler": "s", "rate": 10.0})
    if ours:
        plan = {"plan_ms": 7.0, "response_time_ms": 60.5, "objective": 0.1, "bound": 0.1}
        told = {"timed_out": False, "status": f"placed by {variant}", "hosts": {"2": "uniroma2-1"}}
        put(folder / "planned.json", plan | told)
    return folder


def put(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "experiment"
    folder.mkdir()
    shutil.copyfile(SITES, folder / "sites.toml")
    put(folder / "experiment.json", {})
    return folder


def turns(out: Path) -> tuple[TurnData, ...]:
    return read_turns(out, read_sites(SITES))


def test_the_warm_up_is_cut_off(out: Path) -> None:
    """Rows of the warm-up are 10 s late here, and no measured one is."""
    write_turn(out, "odp", BEST)
    (turn,) = turns(out)
    assert len(turn.rows) == MEASURED
    assert turn.end_to_end_ms.max() < WARM_UP_MS


def test_legs_come_out_as_they_went_in(out: Path) -> None:
    """Every hop is told apart in the network's part, by the site file, and the rest."""
    write_turn(out, "odp", BEST)
    (turn,) = turns(out)
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


def test_a_row_that_finds_the_metronomes_half_there_does_not_wait(out: Path) -> None:
    folder = write_turn(out, "odp", BEST)
    trails = pd.read_csv(folder / "trails.csv")
    trails[CLOCK] = trails["countByWindow_in_us"] - 500
    trails.to_csv(folder / "trails.csv", index=False)
    (turn,) = turns(out)
    legs = {leg.name: leg.median_ms for leg in turn.legs}
    assert legs["wait for metronome"] == 0.0
    assert legs["countByWindow"] == pytest.approx(WAIT_MS + WORK_MS, abs=2e-3)


def test_traffic_counts_each_stream_between_sites(out: Path) -> None:
    """Four streams of the best placement cross, all behind the filter, where rejected rows do not count."""
    folder = write_turn(out, "odp", BEST)
    for name in ("results.csv", "trails.csv"):
        table = pd.read_csv(folder / name)
        table[table["n"] % 2 == 0].to_csv(folder / name, index=False)
    write_turn(out, "even", ABROAD)
    even, odp = turns(out)
    assert odp.traffic_per_s == pytest.approx(4 * 5.0)
    assert even.traffic_per_s == 0.0
    assert odp.sites == (NEAR, HOME)


def test_targets_are_judged_by_medians(out: Path) -> None:
    write_turn(out, "odp", BEST)
    write_turn(out, "odp", BEST, repetition=2, slower_ms=4.0)
    write_turn(out, "ils", BEST, slower_ms=3.0)
    write_turn(out, "even", ABROAD)
    found = {target.text: target for target in targets(summarise(turns(out)))}
    assert {text: target.reached for text, target in found.items()} == {
        "measured within 20% of predicted in every turn": True,
        "optimum: median at most 60 ms": False,
        "ils as odp, within the difference between repetitions (at least the clock's 1 ms)": True,
        "even: at least 2.5 times our best": True,
    }


def test_a_prediction_far_off_is_told_with_its_turn(out: Path) -> None:
    write_turn(out, "odp", BEST, slower_ms=100.0)
    write_turn(out, "ils", BEST)
    first, *_ = targets(summarise(turns(out)))
    assert not first.reached
    assert "odp-1" in first.measured


def test_the_report_shows_every_variant_and_each_placement_once(out: Path) -> None:
    """From the kept files alone, and again with the same result."""
    write_turn(out, "odp", BEST)
    write_turn(out, "odp", BEST, repetition=2)
    write_turn(out, "even", ABROAD)
    write_turn(out, "even", BEST, repetition=2)
    (out / "turns" / "even-2" / "verdict.json").unlink()
    put(
        out / "turns" / "even-1" / "verdict.json", {"equal": False, "differences": [{"sentence": "tops | 7"}]}
    )
    (out / "turns" / "interrupted-1").mkdir()
    text = build(out).read_text(encoding="utf-8")
    files = sorted(path.name for path in (out / "report").iterdir())
    maps = ["map-even-1.png", "map-even-2.png", "map-odp-1.png"]
    assert files == [*maps, "parts.png", "report.json", "report.md", "response-times.png"]
    rows = [line for line in text.splitlines() if line.startswith(("| odp |", "| even |"))]
    assert [cell.strip() for cell in rows[0].split(" | ")][-2:] == ["right", "55 |"]
    assert "tops \\| 7 / not checked" in rows[1]
    assert "us-east1 / europe-west3, uniroma2" in rows[1]
    assert "Status line: placed by odp" in text
    document = json.loads((out / "report" / "report.json").read_text(encoding="utf-8"))
    assert [each["variant"] for each in document["variants"]] == ["odp", "even"]
    assert matplotlib.image.imread(out / "report" / "map-odp-1.png").shape[1] > 400
    assert build(out).read_text(encoding="utf-8") == text


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
def test_kept_files_that_are_missing_or_malformed_are_named(out: Path, spoil: Any, message: str) -> None:
    spoil(write_turn(out, "odp", BEST))
    with pytest.raises(DataError, match=message):
        turns(out)
    done = CliRunner().invoke(app, ["experiment", "report", str(out)])
    assert isinstance(done.exception, UserError)
    assert done.exception.status == 2


def edit(path: Path, column: str, value: float) -> None:
    table = pd.read_csv(path).astype({column: type(value)})
    table.loc[0, column] = value
    table.to_csv(path, index=False)
