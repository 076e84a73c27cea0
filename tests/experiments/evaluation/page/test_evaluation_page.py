"""The report: one page that needs nothing else, has the verdict first, and shows every figure as text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from experiments.evaluation.page.city import AREAS, ROUTES
from experiments.evaluation.page.contents import Check, Evaluation, StrategyRun
from experiments.evaluation.page.evaluation_page import html
from experiments.evaluation.page.sentences import distribution_sentence, placement_sentence
from experiments.evaluation.taxi_evaluation import WORDING
from experiments.reports.rendered import write_page
from experiments.reports.svg import figure, inline_svg
from replay.analysis.placement import ExecutorPlace
from replay.analysis.predict import Prediction, predict, predict_queries
from replay.analysis.sites import read_sites

if TYPE_CHECKING:
    from collections.abc import Sequence

SITES = read_sites(Path(__file__).resolve().parents[4] / "lab" / "sites" / "demo.toml")
COMPONENTS = (
    *("dataSource", "parser", "filterByCoordinates", "computeRouteID", "metronome", "countByWindow"),
    *("partialRank", "globalRank"),
)
VOID = {"meta", "br", "img", "path", "use", "rect", "stop", "image", "circle", "line"}


def run(name: str, median_ms: float) -> dict[str, Any]:
    """Return a run as an analysis has it."""
    figures = {
        **{f"{key}_ms": median_ms for key in ("mean", "p50", "p90", "p95", "p99", "max")},
        "count": 3,
        "quantiles_ms": [median_ms * (0.5 + k / 200) for k in range(201)],
    }
    slices = [
        {
            "start_s": s,
            "measured": 1,
            "p50_ms": median_ms,
            "p95_ms": median_ms,
            "in_per_s": 10.0,
            "out_per_s": 9.0,
        }
        for s in range(5)
    ]
    return {
        "run": name,
        "query": 1,
        "latency": {"end_to_end": figures, "in_topology": figures},
        "slice_s": 1,
        "timeline": slices,
        "demand": [{"minute_s": 1_357_000_020 + 60 * k, "rows": 10 + k} for k in range(400)],
        "ranked": [
            {
                "name": "157.162-158.153",
                "start": "157.162",
                "end": "158.153",
                "rows": 5,
                "share": 0.5,
                "best_rank": 1,
                "mean_rank": 2.0,
            },
            {
                "name": "160.160-160.160",
                "start": "160.160",
                "end": "160.160",
                "rows": 1,
                "share": 0.1,
                "best_rank": 9,
                "mean_rank": 9.0,
            },
        ],
        "parts": {"network": median_ms, "storm": 2.0, "python": 1.0, "wait": 0.0, "redis": -0.1},
        "legs": [
            {
                "name": "a - b",
                "kind": "hop",
                "place": "one host",
                "median_ms": 1.0,
                "p95_ms": 2.0,
                "network_ms": 0.0,
            }
        ],
    }


def rounds() -> list[dict[str, Any]]:
    common = {"topology": "taxi-1", "strategy": "odp", "gain": 0.1, "executors_moved": 2, "plan_ms": 15.0}
    status = "placed by odp: 70.0 ms; more <data>"
    return [
        {**common, "time_s": 10.0, "decision": "assign", "response_time_ms": 70.0, "status": status},
        {**common, "time_s": 20.0, "decision": "keep", "response_time_ms": None, "status": "kept"},
    ]


def evaluation(names: Sequence[str] = ("even", "storm<place>"), *, equal: bool = True) -> Evaluation:
    hosts = list(SITES.hosts.items())
    runs = []
    for shift, name in enumerate(names):
        places = tuple(
            ExecutorPlace(component, k, hosts[(k + shift) % 4][0], 6700, hosts[(k + shift) % 4][1])
            for k, component in enumerate(COMPONENTS)
        )
        check = Check(1, equal or bool(shift), "9,826 rows & more agree")
        by_query = predict_queries(places, SITES)
        runs.append(StrategyRun(name, "even dealing", (check,), places, predict(places, SITES), by_query))
    analysis = {
        "runs": [run(name, 50.0 * (k + 1)) for k, name in enumerate(names)],
        "rounds": rounds(),
        "changes": [],
    }
    return Evaluation(
        *(
            "A <title>",
            {"Data": "rows & rows"},
            tuple(runs),
            SITES,
            analysis,
            "machine; date",
            "stormplace x",
        ),
        wording=WORDING,
    )


class Page(HTMLParser):
    """Reads a page: tags that open and close, text, what is linked, ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in {"href", "src", "xlink:href"} and value is not None:
                self.links.append(value)
            if name == "id" and value is not None:
                self.ids.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def page() -> str:
    return html(evaluation())


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes longest, where only the words of a page of its own are looked at."""
    monkeypatch.setattr("experiments.reports.rendered.inline_svg", lambda *_, **__: "")


def test_the_page_is_well_formed_and_loads_nothing(page: str) -> None:
    """Links lead into the page itself, or hold their content."""
    read = Page(page)

    assert read.open == []
    assert len(set(read.ids)) == len(read.ids)
    for link in read.links:
        assert link.startswith("data:") or link.removeprefix("#") in read.ids, link
    assert "@import" not in page
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))
    assert "<script" not in page


@pytest.mark.usefixtures("no_pictures")
def test_the_verdict_stands_before_everything_else(page: str) -> None:
    assert page.index("All answers are right") < page.index("<h2>")
    wrong = html(evaluation(equal=False))
    assert wrong.index("Answers are wrong") < wrong.index("<h2>")
    assert "All answers are right" not in wrong


@pytest.mark.usefixtures("no_pictures")
def test_a_querys_figures_have_its_own_prediction() -> None:
    made = evaluation(("only",))
    own = replace(made.runs[0].prediction, end_to_end_ms=123.4, streams_between_sites=77)
    table = html(replace(made, runs=(replace(made.runs[0], by_query={1: own}),))).partition("</table>")[0]

    assert re.findall(r"<td[^>]*>([^<]*)</td>", table)[-2:] == ["123.4", "77"]


def test_texts_of_users_are_no_markup(page: str) -> None:
    assert "<title>A &lt;title&gt;</title>" in page
    assert "storm&lt;place&gt;" in page
    assert "storm<place>" not in page


def test_every_plot_has_a_sentence(page: str) -> None:
    captions = re.findall(r"</svg>\s*<figcaption>([^<]+)</figcaption>", page)

    assert len(captions) == page.count("<svg ")
    assert all(caption.endswith(".") for caption in captions)


def test_colours_of_the_ground_follow_the_page(page: str) -> None:
    """No ink or paper of the light page is left in a plot; only white text on executors stays white."""
    plots = "".join(re.findall(r"<svg .*?</svg>", page, flags=re.DOTALL))

    assert "#22303c" not in plots
    assert "stroke: #ffffff" not in plots
    assert re.search(r"<path[^>]*fill: #ffffff", plots) is None


def test_a_figure_gives_the_same_text_twice() -> None:
    texts = set()
    for _ in range(2):
        drawn = figure(3, 2)
        drawn.subplots().plot([1, 2], [3, 4])
        texts.add(inline_svg(drawn, "x", "label"))

    assert len(texts) == 1


def test_one_run_of_one_query_without_rounds_or_sites_still_makes_a_report(tmp_path: Path) -> None:
    made = evaluation(("only",))
    only = {**made.analysis["runs"][0], "demand": [], "ranked": [], "parts": None, "legs": []}
    bare = replace(made, analysis={"runs": [only], "rounds": [], "changes": []}, origin="", command="")

    write_page(html(bare), tmp_path / "report.html")

    text = (tmp_path / "report.html").read_text()
    assert "The scheduler's rounds" not in text
    assert "Where the time goes" not in text
    assert "What the queries answered" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_sentence_says_how_much_slower_the_slowest_run_is() -> None:
    sentence = distribution_sentence([run("a", 50.0), run("b", 400.0)])

    assert "50 ms under a" in sentence
    assert "400 ms under b, 8.0 times" in sentence
    assert "All runs" in distribution_sentence([run("a", 50.0), run("b", 51.0)])


@pytest.mark.parametrize(
    ("between", "start"), [(0, "No stream"), (1, "1 stream runs between"), (3, "3 streams run between")]
)
def test_streams_are_counted_in_words(between: int, start: str) -> None:
    assert placement_sentence(Prediction(1.0, 1.0, (), between, 0)).startswith(start)


def test_cells_lie_where_the_challenge_puts_them() -> None:
    """Cell 3.7 holds -74.901613, 41.447988; area 1.1 has the same centre as cell 1.1."""
    assert abs(ROUTES.longitude(3) - -74.901613) < 0.005986 / 2
    assert abs(ROUTES.latitude(7) - 41.447988) < 0.004491556 / 2
    assert (AREAS.longitude(1), AREAS.latitude(1)) == (ROUTES.longitude(1), ROUTES.latitude(1))
    assert AREAS.longitude(3) == pytest.approx(ROUTES.longitude(2))
