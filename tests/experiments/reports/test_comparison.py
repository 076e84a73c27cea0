"""Sites, placements, predictions, and the report made of them."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.image
import pytest
from matplotlib.text import Text
from rich.console import Console

from experiments.busy import busy_sentence, write_busy
from experiments.machine import Provenance
from experiments.reports.comparison import build
from experiments.reports.comparison_figure import draw_report
from experiments.reports.placement_map import CHIP_HEIGHT, _column, _hosts
from experiments.reports.run_record import read_run
from replay.analysis.latency import GRID, Distribution, Latency
from replay.analysis.placement import QUERY_STREAMS, ExecutorPlace, read_placement
from replay.analysis.predict import CostModel, predict, predict_queries
from replay.analysis.sites import read_sites
from replay.errors import DataError

if TYPE_CHECKING:
    from formats.site_file import SiteFile

DEMO_SITES = Path(__file__).resolve().parents[3] / "lab" / "sites" / "demo.toml"
COMPONENTS = (
    "dataSource",
    "parser",
    "filterByCoordinates",
    "computeRouteID",
    "metronome",
    "countByWindow",
    "partialRank",
    "globalRank",
)
HOME, WEST, FAR = "uniroma2", "europe-west1", "us-east1"
SPREAD = (
    f"{HOME}-1",
    f"{WEST}-1",
    f"{FAR}-1",
    f"{HOME}-2",
    f"{HOME}-1",
    f"{WEST}-1",
    f"{FAR}-1",
    f"{HOME}-2",
)
FREE = CostModel(default_execution_time_ms=0.0, hop_overhead_ms=0.0)


@pytest.fixture(scope="module")
def sites() -> SiteFile:
    return read_sites(DEMO_SITES)


def executors(hosts: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"component": c, "first_task": t, "last_task": t, "host": h, "port": 6700}
        for t, (c, h) in enumerate(zip(COMPONENTS, hosts, strict=True), start=2)
    ]


def write_run(folder: Path, hosts: tuple[str, ...], middle_ms: float, wrong: str | None = None) -> Path:
    folder.mkdir(parents=True)
    acker = {"component": "__acker", "first_task": 1, "last_task": 1, "host": "elsewhere", "port": 1}
    document = {"name": "taxi", "id": "taxi-1", "executors": [acker, *executors(hosts)]}
    (folder / "placement.json").write_text(json.dumps(document))
    times = Distribution(300, middle_ms, tuple(middle_ms * (0.8 + 0.4 * step) for step in GRID))
    (folder / "latency.json").write_text(json.dumps(Latency(times, times).document()))
    differences = [] if wrong is None else [{"sentence": wrong}]
    (folder / "verdict.json").write_text(json.dumps({"equal": wrong is None, "differences": differences}))
    return folder


def test_the_demo_sites_are_read(sites: SiteFile) -> None:
    assert sites.names == (HOME, WEST, FAR)
    assert sites.services == HOME
    assert len(sites.hosts) == 7
    assert sites.hosts[f"{FAR}-2"] == FAR
    assert sites.between_ms(FAR, HOME) == sites.between_ms(HOME, FAR) == 120.0
    assert sites.between_ms(WEST, WEST) == 0.25


def test_a_faulty_site_file_is_refused_as_bad_data(tmp_path: Path) -> None:
    (tmp_path / "sites.toml").write_text("[[site]")

    with pytest.raises(DataError, match=r"sites.toml is no TOML"):
        read_sites(tmp_path / "sites.toml")


def test_the_prediction_is_the_longest_path_with_true_delays(tmp_path: Path, sites: SiteFile) -> None:
    """HOME-28-WEST-93-FAR-120-HOME-28-WEST-93-FAR-120-HOME: 482 ms, both branches leave the site alike."""
    places = read_placement(write_run(tmp_path / "run", SPREAD, 1.0), sites)

    prediction = predict(places, sites, FREE)

    assert prediction.response_time_ms == pytest.approx(482.0)
    assert prediction.end_to_end_ms == pytest.approx(482.5)
    assert (prediction.streams_between_sites, prediction.critical_hops) == (8, 6)
    assert prediction.critical_path[0] == "dataSource"
    assert prediction.critical_path[-1] == "globalRank"
    assert len(prediction.critical_path) == 7


def test_execution_times_and_overheads_count(tmp_path: Path, sites: SiteFile) -> None:
    """On one host: execution only, and the slower branch is the critical one."""
    places = read_placement(write_run(tmp_path / "one", (f"{FAR}-1",) * 8, 1.0), sites)

    prediction = predict(places, sites, CostModel({"metronome": 5.0}, 1.0, hop_overhead_ms=3.0))

    assert prediction.response_time_ms == pytest.approx(6 * 1.0 + 5.0)
    assert "metronome" in prediction.critical_path
    assert prediction.end_to_end_ms == pytest.approx(11.0 + 240.0)
    assert prediction.streams_between_sites == 0


def test_leaving_a_host_costs_local_delay_and_overhead(tmp_path: Path, sites: SiteFile) -> None:
    hosts = (f"{HOME}-1", *(f"{HOME}-2",) * 7)
    places = read_placement(write_run(tmp_path / "two", hosts, 1.0), sites)

    prediction = predict(places, sites, CostModel({}, 0.0, hop_overhead_ms=3.0))

    assert prediction.response_time_ms == pytest.approx(3.25)
    assert prediction.critical_hops == 0


def test_each_query_is_predicted_on_its_own_streams(sites: SiteFile) -> None:
    """The slow way of one query is none of the other's; a query that is not whole is left out."""
    far = {"countByWindow", "globalRank"}
    components = {
        component for streams in QUERY_STREAMS.values() for stream in streams for component in stream
    }
    places = [
        ExecutorPlace(name, task, f"{at}-1", 6700, at)
        for task, name in enumerate(sorted(components))
        for at in [FAR if name in far else HOME]
    ]

    predictions = predict_queries(places, sites)

    assert predictions[1].end_to_end_ms == predict(places, sites).end_to_end_ms > 4 * 120.0
    assert predictions[1].streams_between_sites == 4
    assert predictions[2].end_to_end_ms < 10.0
    assert predictions[2].streams_between_sites == 0
    assert list(predict_queries([each for each in places if each.component not in far], sites)) == [2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda all_: all_[:-1], "no executor of globalRank"),
        (lambda all_: [{**all_[0], "host": "mars-1"}, *all_[1:]], r"executors\.0\.host: mars-1 is no host"),
        (lambda all_: [{**all_[0], "port": "x"}, *all_[1:]], r"executors\.0\.port"),
        (lambda _: [], "executors"),
    ],
)
def test_a_faulty_placement_is_refused(tmp_path: Path, sites: SiteFile, change: Any, message: str) -> None:
    document = {"executors": change(executors(SPREAD))}
    (tmp_path / "placement.json").write_text(json.dumps(document))

    with pytest.raises(DataError, match=message):
        read_placement(tmp_path, sites)


def test_the_report_shows_every_run(tmp_path: Path) -> None:
    """Table, Markdown, JSON and picture; a wrong answer is named."""
    runs = {
        "even": write_run(tmp_path / "even", SPREAD, 510.0, wrong="tops.csv:7: another row"),
        "stormplace": write_run(tmp_path / "stormplace", (f"{HOME}-1",) * 8, 12.0),
    }
    origin = Provenance("2 cores", "2026-11-21", "abc1234")
    write_busy(runs["even"], 0.9)

    report = build(runs, DEMO_SITES, tmp_path / "out", "Taxi query", origin, costs=FREE)

    console = Console(width=160, record=True, file=(tmp_path / "terminal").open("w"))
    console.print(report.table)
    text = console.export_text()
    assert "510.0" in text
    assert "WRONG" in text
    markdown = report.markdown.read_text()
    row = "even | 510.0 | 601.8 | 609.96 | 510.0 | 601.8 | 610.0 | 8 | 6 | 482.0 | 482.5 | WRONG | 300"
    assert row.replace("609.96", "610.0") in markdown
    assert "commit abc1234" in markdown
    assert "answers differ from the expected ones: tops.csv:7: another row" in markdown
    assert "DISTURBED, above 80%, and not to be compared: even (90%)." in report.busy
    assert f"\n{report.busy}\n" in markdown
    entries = json.loads(report.json.read_text())["runs"]
    assert [entry["answers_right"] for entry in entries] == [False, True]
    assert [entry["busy"] for entry in entries] == [0.9, None]
    assert entries[0]["placement"]["parser[3]"]["site"] == WEST
    assert entries[0]["predicted"]["critical_hops"] == 6
    pixels = matplotlib.image.imread(report.picture)
    assert pixels.shape[0] > 800
    assert pixels.shape[1] > 1500


def test_a_report_without_a_verdict_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "even", SPREAD, 510.0)
    (folder / "verdict.json").unlink()

    with pytest.raises(DataError, match=r"verdict\.json: no such file"):
        build({"even": folder}, DEMO_SITES, tmp_path / "out", "t", Provenance("m", "d", "c"))


def test_figures_of_another_form_are_refused_with_file_and_key(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "even", SPREAD, 510.0)
    document = json.loads((folder / "latency.json").read_text())
    document["in_topology"]["quantiles_ms"].pop()
    (folder / "latency.json").write_text(json.dumps(document))

    with pytest.raises(DataError, match=r"latency\.json: in_topology\.quantiles_ms: "):
        build({"even": folder}, DEMO_SITES, tmp_path / "out", "t", Provenance("m", "d", "c"))


def test_nothing_lies_on_anything_in_the_picture(tmp_path: Path, sites: SiteFile) -> None:
    """Titles, the line on the processors, percentiles and curves, with four runs of long medians."""
    names = ("even", "default", "ras", "stormplace")
    runs = [
        read_run(name, write_run(tmp_path / name, SPREAD, 90.5 + 1_000 * number), sites)
        for number, name in enumerate(names)
    ]

    drawn = draw_report(tmp_path / "report.png", runs, sites, "A title", busy_sentence({"even": 0.9}))

    drawn.draw_without_rendering()
    plots = [axes for axes in drawn.axes if axes.get_legend() is not None]
    texts = [text for text in drawn.texts if text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    for axes in drawn.axes:
        (title,) = [text for text in axes.findobj(Text) if text.get_text() == axes.get_title(loc="left")]
        boxes.append(title.get_window_extent())
    boxes += [axes.get_window_extent() for axes in plots]
    boxes += [axes.get_legend().get_window_extent() for axes in plots]
    assert len(plots) == 2
    assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    headline = drawn.axes[0].get_title(loc="left")
    assert "even: median 90.5 ms" in headline
    assert "p50 90.5 ms" in plots[0].get_legend().get_texts()[0].get_text()


def test_executors_and_hosts_never_overlap_on_the_map(tmp_path: Path, sites: SiteFile) -> None:
    places = read_placement(write_run(tmp_path / "run", SPREAD, 1.0), sites)

    column = _column(0.0, _hosts(places, sites, HOME))

    assert column.idle == (f"{HOME}-3",)
    chips = sorted(column.chips.values(), key=lambda spot: spot.y)
    assert len(chips) == 4
    for lower, upper in pairwise(chips):
        assert lower.y + CHIP_HEIGHT < upper.y
    first, second = column.hosts[f"{HOME}-1"], column.hosts[f"{HOME}-2"]
    assert second.y + second.height < first.y
    assert column.bottom < second.y
