"""Targets and tables of the report, from turns whose figures are known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from experiments.lab_tiers.report.lab_tiers_goals import targets
from experiments.lab_tiers.report.lab_tiers_report import build
from experiments.lab_tiers.report.placement_costs import Costs, costs_of
from experiments.lab_tiers.report.plan_words import planned_costs
from experiments.lab_tiers.report.tier_turns import read_tier_turns
from replay.analysis.placement import ExecutorPlace
from replay.analysis.sites import read_sites
from tests.experiments.lab_tiers.made import COMPONENTS, IN_THE_CLOUD, IN_THE_FOG, SITES, Made, write_turn

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.reports.targets import Target

OURS = Made(
    IN_THE_FOG,
    40.0,
    rows={"edge-a": 52_500.0, "fog-a": 52_500.0},
    planned={"edge-a": 50_000.0, "fog-a": 50_000.0},
)
GREEDY = replace(OURS, hosts=IN_THE_CLOUD, ms=95.0, costs=(120.0, 410.0))
BLIND = replace(OURS, growth_ms=20.0, dropped=7)
ANSWERS, BYTES, WITHIN, COST, RESPONSE, OVERLOAD, STATED = (
    "answers right in all turns",
    "bytes over uplinks within 10% of the plan's, by measured rates",
    "ours: no uplink over its bandwidth",
    "ours at most 0.5 of cloud-greedy's cost (paper: 3 to 4 times)",
    "ours: median response time not above cloud-greedy's",
    "overload: the queue grows if bandwidths are ignored, and does not if they are respected",
    "costs in status lines are those that the placements have",
)


def judged(out: Path, **made: Made) -> dict[str, Target]:
    for variant, each in made.items():
        write_turn(out, variant.replace("_", "-"), each)
    sites = read_sites(SITES)
    return {target.text: target for target in targets(read_tier_turns(out, sites), sites)}


def test_all_targets_may_be_reached(tmp_path: Path) -> None:
    found = judged(
        tmp_path, cloud_greedy=GREEDY, inop_search=OURS, overload_blind=BLIND, overload_heeding=OURS
    )
    assert {text: target.reached for text, target in found.items()} == dict.fromkeys(
        (ANSWERS, BYTES, WITHIN, COST, RESPONSE, OVERLOAD, STATED), True
    )
    assert found[COST].measured == "95.0, greedy 265.0: 0.36, greedy costs 2.8 times ours"
    assert found[BYTES].measured.startswith("4 of 4 uplinks; worst +5.0%")
    assert found[OVERLOAD].measured == "response time +200 ms per second if ignored, +0.0 if respected"


def test_targets_of_variants_that_were_not_run_are_not_measured(tmp_path: Path) -> None:
    found = judged(tmp_path, ras=Made(IN_THE_CLOUD))
    assert {text: target.reached for text, target in found.items()} == dict.fromkeys(
        (BYTES, WITHIN, COST, RESPONSE, OVERLOAD, STATED)
    ) | {ANSWERS: True}


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        (ANSWERS, replace(OURS, verdict="row 5 differs")),
        (BYTES, replace(OURS, rows={"edge-a": 56_000.0, "fog-a": 50_000.0})),
        (BYTES, replace(OURS, rows={"edge-a": 50_000.0, "fog-a": 44_000.0})),
        (WITHIN, replace(OURS, rows={"edge-a": 124_000.0})),
        (WITHIN, replace(OURS, planned={"edge-a": 124_000.0})),
        (WITHIN, replace(OURS, dropped=1)),
        (COST, replace(OURS, hosts=IN_THE_CLOUD)),
        (RESPONSE, replace(OURS, ms=96.0)),
        (STATED, replace(OURS, costs=(180.0, 11.0))),
    ],
)
def test_a_target_is_missed_by_what_it_is_about(tmp_path: Path, text: str, ours: Made) -> None:
    assert judged(tmp_path, cloud_greedy=GREEDY, inop_search=ours)[text].reached is False


@pytest.mark.parametrize(("blind", "heeding"), [(OURS, OURS), (BLIND, BLIND)])
def test_both_placements_under_overload_have_to_do_as_expected(
    tmp_path: Path, blind: Made, heeding: Made
) -> None:
    assert judged(tmp_path, overload_blind=blind, overload_heeding=heeding)[OVERLOAD].reached is False


def test_flows_by_declared_rates_are_shown_and_not_judged(tmp_path: Path) -> None:
    found = judged(tmp_path, inop_search=replace(OURS, measured=False, planned={"edge-a": 10.0}))
    assert found[BYTES].reached is None


def test_the_way_from_and_to_redis_costs_what_a_stream_costs() -> None:
    """A query that has left for the cloud, source and sink as well, still takes its rows from the edge."""
    sites = read_sites(SITES)
    hosts = ("cloud-a-1",) * 4 + ("cloud-a-2",) * 4
    places = [
        ExecutorPlace(name, task, host, 6700, sites.hosts[host])
        for task, (name, host) in enumerate(zip(COMPONENTS, hosts, strict=True))
    ]
    assert costs_of(places, sites) == Costs(placement=80.0, link=410.0, total=245.0)


def test_costs_stand_in_the_status_line() -> None:
    found = planned_costs(
        "placed by x: F 95.0000, 31.0 ms response time, placement cost 180, link cost 10.5, optimal"
    )
    assert found is not None
    assert (found.placement_cost, found.link_cost) == (180.0, 10.5)
    assert planned_costs("kept: frozen") is None


def test_the_report_has_tables_pictures_and_figures(tmp_path: Path) -> None:
    for variant, made in (("cloud-greedy", GREEDY), ("inop-search", OURS), ("overload-blind", BLIND)):
        write_turn(tmp_path, variant, made)
    write_turn(tmp_path, "ras", Made(IN_THE_CLOUD))
    path = build(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert "| inop-search-1 | edge-a | 125.0 | 54.5 | 1.0 | 2.0 | 52.5 | 50.0 | +5.0 % | measured |" in text
    assert "| overload-blind-1 | not stated | 50.0 | 54.5 | 125.0 | 7 |" in text
    assert "| ras-1 | 120.0 | 410.0 | 265.0 | 1.00 |" in text
    assert "| 2 / 6 / 0 |" in text
    assert "2 cores; 2026-11-27; commit abc123." in text
    names = {each.name for each in path.parent.iterdir()}
    pictures = {"uplinks.png", "overload.png", "map-ras-1.png", "map-inop-search-1.png"}
    assert names >= pictures | {"report.md", "report.json"}
    figures = json.loads((path.parent / "report.json").read_text(encoding="utf-8"))
    ours = next(each for each in figures["turns"] if each["done"]["variant"] == "inop-search")
    assert ours["costs"] == {"placement": 180.0, "link": 10.0, "total": 95.0}
    assert ours["uplinks"]["fog-a"]["deviation"] == pytest.approx(0.05)
