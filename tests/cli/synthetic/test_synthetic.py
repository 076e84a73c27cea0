"""`stormplace synthetic`: what cannot be run is refused in one sentence; predictions are the scheduler's."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from cli.errors import UserError
from cli.synthetic.synthetic import app, measured_delays
from cli.synthetic.synthetic_input import Asked, read_application, to_workload
from experiments.errors import ExperimentError
from experiments.synthetic.delays import delays_of_sites
from experiments.synthetic.prediction import document, hosts_of, predict, read_measured
from topologies.nimbus import ExecutorPlace, TopologyPlacement

if TYPE_CHECKING:
    from pathlib import Path

    from topologies.synthetic.workload import Workload

SITES = """
[network]
local_delay_ms = 0.5
[[site]]
name = "near"
supervisors = 2
slots = 2
services = true
[[site]]
name = "far"
supervisors = 1
slots = 2
[[link]]
between = ["near", "far"]
delay_ms = 40.0
"""
WHERE = ("--nimbus=127.0.0.1:1", "--redis=r:1", "--run=r", "--name=n")
OPERATORS = [{"name": name, "execution_time_ms": 1.0} for name in "ab"]
NETWORK = {"nodes": [{"name": "x", "capacity": {"slots": 9}}], "delay_ms": [[0]]}


def refusal(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["submit", *WHERE, *arguments])
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


def instance(folder: Path, streams: list[dict[str, Any]]) -> str:
    file = folder / "instance.json"
    application = {"operators": OPERATORS, "streams": streams}
    file.write_text(json.dumps({"application": application, "network": NETWORK}), encoding="utf-8")
    return str(file)


def diamond(**given: Any) -> Workload:
    asked = Asked("diamond", 4, 10.0, 200.0, 2.0)
    options = {"work": "wait", "tuples": 100, "warm_up_s": 1.0, "scale_rate": 1.0} | given
    return to_workload(read_application(None, asked), **options)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "either an instance file or --application is needed"),
        (("--application=ring",), '--application: expected sequential, diamond, replicated, got "ring"'),
        (("--application=diamond", "--operators=2"), "--operators: expected at least 3, got 2"),
        (("--application=replicated", "--operators=9"), "--operators: expected 3 l \\+ 2 of them"),
        (("--application=sequential", "--rate=0"), "operator-1 -> operator-2 has rate 0"),
        (("--application=sequential", "--rate=-1"), "--rate: expected a number"),
        (("--application=sequential", "--work-ms=-1"), "--work-ms: expected a number"),
        (("--application=sequential", "--work=play"), '--work: expected wait or busy, got "play"'),
        (("--application=sequential", "--scale-rate=0"), "--scale-rate: expected a number above 0, got 0"),
        (("--application=replicated",), "operator-1 would have 3.6 s of work per second"),
        (("--application=sequential", "--pin=x=site:a"), "no component 'x'"),
        (("--application=sequential", "--run=a/b"), "--run: run 'a/b' must be"),
        (("nowhere.json",), "nowhere.json: No such file"),
        (("any.json", "--rate=5"), "--rate: the instance any.json says all about its application"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments: tuple[str, ...], sentence: str) -> None:
    """Options that contradict each other, unknown names, numbers out of range: before Nimbus is asked."""
    assert re.search(sentence, refusal(*arguments))


def test_instances_that_are_none_are_refused(tmp_path: Path) -> None:
    """A cycle, a stream of rate 0, an operator that nothing reaches: file, place and reason."""
    there = {"from": "a", "to": "b", "rate": 1, "tuple_bytes": 10}
    back = {"from": "b", "to": "a", "rate": 1, "tuple_bytes": 10}
    cycle = refusal(instance(tmp_path, [there, back]))
    assert "instance.json: $.application.streams: critical streams form a cycle: a -> b -> a" in cycle
    assert "stream a -> b has rate 0" in refusal(instance(tmp_path, [there | {"rate": 0}]))
    assert "operator a has no critical stream" in refusal(instance(tmp_path, []))


def test_rates_are_scaled_and_names_made_safe() -> None:
    """The workload is the instance's application, at the rates that are asked for."""
    given = diamond(scale_rate=0.5)
    assert {stream.rate for stream in given.streams} == {5.0}
    assert [operator.work_ms for operator in given.operators] == [2.0] * 4
    assert given.operators[0].component == "operator-1"


def test_the_prediction_is_the_longest_path_of_the_placement(tmp_path: Path) -> None:
    """Work of the operators and delays between their hosts, none within a host."""
    sites = tmp_path / "sites.toml"
    sites.write_text(SITES, encoding="utf-8")
    hosts = ("near-1", "near-1", "far-1", "near-2")
    delays = delays_of_sites(sites, set(hosts))
    assert (delays["near-1", "near-2"], delays["far-1", "near-2"]) == (0.5, 40.0)
    prediction = predict(diamond(), hosts, delays)
    assert prediction.response_time_ms == pytest.approx(3 * 2.0 + 80.0)
    assert prediction.operators == ("operator-1", "operator-3", "operator-4")
    assert prediction.delay_ms == pytest.approx((0.0, 40.0, 0.5, 40.0))


def test_a_host_of_no_site_is_refused(tmp_path: Path) -> None:
    """Of the site file as of the readings: the host is named."""
    sites = tmp_path / "sites.toml"
    sites.write_text(SITES, encoding="utf-8")
    with pytest.raises(ExperimentError, match="--sites: no site is named 'moon'"):
        delays_of_sites(sites, {"near-1", "moon-1"})
    readings = tmp_path / "readings.json"
    readings.write_text('[{"host": "near-1", "time": 1.0}]', encoding="utf-8")
    with pytest.raises(ExperimentError, match="no reading of moon-1"):
        measured_delays(None, "/stormplace", None, readings, {"near-1", "moon-1"})


def test_components_without_a_place_are_named() -> None:
    """Nimbus lists executors only once they have a slot."""
    given = diamond()
    executors = tuple(
        ExecutorPlace(operator.component, index, index, host, 6700)
        for index, (operator, host) in enumerate(
            zip(given.operators, ("h", "h", "", "k"), strict=True), start=1
        )
    )
    with pytest.raises(ExperimentError, match="topology n has no place for operator-3: is it the run's"):
        hosts_of(given, TopologyPlacement("n-1", "ACTIVE", "", executors), "n")


def test_measured_and_predicted_stand_beside_each_other(tmp_path: Path) -> None:
    """The longest measured path against the longest predicted one, and each path against itself."""
    given = diamond()
    path = {"streams": [1, 3], "operators": ["operator-1", "operator-3", "operator-4"]}
    path["delays"] = {"tuples": 30, "p50_ms": 93.0, "p95_ms": 99.0}  # type: ignore[assignment]
    streams = [{"rate": 9.9, "hop": {"p50_ms": 41.0}}, *({"rate": None, "hop": None} for _ in range(3))]
    summary = {"run": "r", "workload": given.to_conf(), "paths": [path], "response_time": path}
    (tmp_path / "summary.json").write_text(json.dumps(summary | {"streams": streams}), encoding="utf-8")
    hosts = ("u", "u", "v", "u")
    delays = {("u", "v"): 40.0, ("v", "u"): 40.0}
    comparison = document(read_measured(tmp_path), predict(given, hosts, delays), hosts)
    assert comparison["predicted_ms"] == pytest.approx(86.0)
    assert comparison["deviation_ms"] == pytest.approx(7.0)
    assert comparison["deviation"] == pytest.approx(7.0 / 86.0)
    assert comparison["paths"][0]["predicted_ms"] == pytest.approx(86.0)
    assert comparison["streams"][0]["measured_p50_ms"] == 41.0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "summary.json: No such file"),
        ("{", "it is no summary of `synthetic collect`"),
        ('{"run": "r"}', "it is no summary of `synthetic collect`"),
        ('{"run": "r", "workload": {}, "paths": []}', "this is no workload"),
    ],
)
def test_a_folder_of_something_else_is_refused(tmp_path: Path, text: str | None, sentence: str) -> None:
    """A missing file, no JSON, another summary."""
    if text is not None:
        (tmp_path / "summary.json").write_text(text, encoding="utf-8")
    with pytest.raises(ExperimentError, match=sentence):
        read_measured(tmp_path)


def test_check_wants_one_source_of_delays(tmp_path: Path) -> None:
    """None, or two of them, would leave open which prediction is meant."""
    for extra in ([], ["--sites=a", "--readings=b"]):
        result = CliRunner().invoke(app, ["check", str(tmp_path), "--nimbus=h:1", "--name=n", *extra])
        assert str(result.exception) == "exactly one of --sites, --zookeeper and --readings is needed"
