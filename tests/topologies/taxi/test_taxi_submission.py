"""Submission speaks Storm's Thrift to Nimbus; a stand-in that speaks it too checks what arrives."""

from __future__ import annotations

import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from formats.address import Address
from formats.nimbus import NimbusError
from formats.semantics import Semantics
from topologies import nimbus
from topologies.submission import submit
from topologies.taxi.keys import Run
from topologies.taxi.taxi_submission import TaxiSubmission
from topologies.taxi.topology import component_ids

if TYPE_CHECKING:
    from tests.topologies.stand_in import StandIn


SUBMISSION = TaxiSubmission(name="taxi", run=Run("r1"), redis=Address("redis", 6379))


def test_nimbus_gets_jar_configuration_and_wiring(stand_in: tuple[StandIn, Address]) -> None:
    """The jar holds both packages below resources/, the topology eight components with absolute commands."""
    handler, address = stand_in
    submit(address, SUBMISSION)
    name, location, conf, topology, options = handler.submitted
    assert (name, location, options.initial_status) == ("taxi", "inbox/1.jar", 1)
    assert json.loads(conf) == SUBMISSION.configuration()
    with zipfile.ZipFile(handler.jar) as jar:
        names = jar.namelist()
    assert "resources/topologies/taxi/components/source.py" in names
    assert "resources/formats/semantics.py" in names
    assert {tuple(entry.split("/")[:2]) for entry in names} == {
        ("resources", "formats"),
        ("resources", "topologies"),
    }
    assert all(entry.endswith(".py") for entry in names)
    assert set(topology.spouts) | set(topology.bolts) == set(component_ids(("1",)))
    shell = topology.bolts["countByWindow"].bolt_object.shell
    assert shell.execution_command == str(Path(sys.prefix) / "bin" / "streamparse_run")
    assert shell.script == "topologies.taxi.components.counting.CountByWindow"


SHARED_EDGES = {
    ("dataSource", "default", "parser"): "shuffle",
    ("parser", "default", "filterByCoordinates"): "shuffle",
}
ROUTE_EDGES = {
    ("filterByCoordinates", "default", "computeRouteID"): "shuffle",
    ("filterByCoordinates", "progress", "metronome"): "fields",
    ("computeRouteID", "default", "countByWindow"): "fields['share']",
    ("metronome", "default", "countByWindow"): "fields['share']",
    ("countByWindow", "default", "partialRank"): "fields['share']",
    ("partialRank", "default", "globalRank"): "fields",
}
AREA_EDGES = {
    ("filterByCoordinates", "areas", "computeAreaID"): "shuffle",
    ("filterByCoordinates", "areaProgress", "areaMetronome"): "fields",
    ("computeAreaID", "taxis", "emptyTaxis"): "fields['share']",
    ("areaMetronome", "default", "emptyTaxis"): "fields['share']",
    ("computeAreaID", "trips", "profitability"): "fields['share']",
    ("emptyTaxis", "default", "profitability"): "fields['share']",
    ("areaMetronome", "default", "profitability"): "fields['share']",
    ("profitability", "default", "globalAreaRank"): "fields",
}


@pytest.mark.parametrize(
    ("queries", "edges"),
    [
        (("1",), SHARED_EDGES | ROUTE_EDGES),
        (("2",), SHARED_EDGES | AREA_EDGES),
        (("1", "2"), SHARED_EDGES | ROUTE_EDGES | AREA_EDGES),
    ],
)
def test_the_topology_has_its_operators_and_their_edges(
    queries: tuple[str, ...], edges: dict[tuple[str, str, str], str]
) -> None:
    """Ids, edges, streams and groupings are fixed: schedulers and reports know them by name."""
    submission = replace(SUBMISSION, queries=queries, tasks={"parser": 3}, python_env=Path("/env"))
    topology = submission.thrift_topology()
    found = {
        (stream.componentId, stream.streamId, name): next(
            key for key, value in vars(grouping).items() if value is not None
        )
        + str(grouping.fields or "")
        for name, bolt in topology.bolts.items()
        for stream, grouping in bolt.common.inputs.items()
    }
    assert found == edges
    components = dict(topology.spouts) | dict(topology.bolts)
    assert set(components) == set(component_ids(queries))
    tasks = {name: each.common.parallelism_hint for name, each in components.items()}
    assert tasks == dict.fromkeys(components, 1) | {"parser": 3}


def test_components_may_begin_with_fewer_executors_than_tasks() -> None:
    """So that they can grow; what a component's class configures stays."""
    submission = replace(SUBMISSION, tasks={"parser": 6}, executors={"parser": 2, "globalRank": 9})
    bolts = replace(submission, python_env=Path("/env")).thrift_topology().bolts
    parser, sink = bolts["parser"].common, bolts["globalRank"].common
    assert (parser.parallelism_hint, json.loads(parser.json_conf)) == (2, {"topology.tasks": 6})
    assert (sink.parallelism_hint, "topology.tasks" in json.loads(sink.json_conf)) == (1, False)


def test_queries_tasks_and_choices_are_in_the_configuration() -> None:
    """There are as many shares as a component has tasks that keeps them, unless the user says otherwise."""
    submission = replace(
        SUBMISSION,
        queries=("1", "2"),
        tasks={"parser": 9, "countByWindow": 2, "profitability": 3},
        semantics=Semantics.of({"median": "cents"}),
    )
    conf = submission.configuration()
    assert (conf["taxi.queries"], conf["taxi.shares"]) == ("1,2", 3)
    assert conf["taxi.semantics.median"] == "cents"
    assert replace(submission, conf={"taxi.shares": 8}).configuration()["taxi.shares"] == 8
    with pytest.raises(ValueError, match=r"taxi\.shares is 0"):
        replace(submission, conf={"taxi.shares": 0}).configuration()


def test_the_users_configuration_wins_but_not_over_the_run() -> None:
    """--conf overrides defaults, --workers and --pin; Redis and run are the submission's."""
    submission = TaxiSubmission(
        name="taxi",
        run=Run("r1"),
        redis=Address("redis", 6379),
        workers=2,
        pins={"dataSource": "site:a"},
        conf={"topology.workers": 3, "taxi.run": "other", "topology.stormplace.seed": 7},
    )
    conf = submission.configuration()
    assert conf["topology.workers"] == 3
    assert conf["topology.stormplace.pin"] == {"dataSource": "site:a"}
    assert conf["topology.stormplace.seed"] == 7
    assert (conf["taxi.redis"], conf["taxi.run"]) == ("redis:6379", "r1")
    assert conf["topology.acker.executors"] == 0
    assert conf["topology.component.cpu.pcore.percent"] == 50.0


def test_replay_needs_an_acker() -> None:
    """The option and the key set one unless the user's configuration says otherwise; none is refused."""
    plain = SUBMISSION.configuration()
    assert (plain.get("taxi.replay"), plain["topology.acker.executors"]) == (None, 0)
    by_option = replace(SUBMISSION, replay=True).configuration()
    by_key = replace(SUBMISSION, conf={"taxi.replay": True}).configuration()
    assert by_option == by_key
    assert (by_option["taxi.replay"], by_option["topology.acker.executors"]) == (True, 1)
    two = replace(SUBMISSION, replay=True, conf={"topology.acker.executors": 2})
    assert two.configuration()["topology.acker.executors"] == 2
    none = replace(SUBMISSION, replay=True, conf={"topology.acker.executors": 0})
    with pytest.raises(ValueError, match=r"taxi\.replay needs ackers, but topology\.acker\.executors is 0"):
        none.configuration()


def test_a_name_in_use_is_refused_before_anything_is_uploaded(stand_in: tuple[StandIn, Address]) -> None:
    """The second submission of a name changes nothing."""
    handler, address = stand_in
    handler.alive["taxi"] = 0
    with pytest.raises(NimbusError, match="'taxi' is running already"):
        submit(address, SUBMISSION)
    assert handler.jar.getvalue() == b""


def test_kill_waits_until_the_topology_is_gone(stand_in: tuple[StandIn, Address]) -> None:
    """It returns when Nimbus lists it no more; an unknown name is an error."""
    handler, address = stand_in
    handler.alive["taxi"] = 0
    with nimbus.connect(address) as client:
        nimbus.kill(client, "taxi", 20.0)
    assert handler.alive == {}
    with (
        pytest.raises(NimbusError, match="no topology named 'taxi'"),
        nimbus.connect(address) as client,
    ):
        nimbus.kill(client, "taxi", 20.0)


def test_placement_lists_executors_in_order_of_tasks(stand_in: tuple[StandIn, Address]) -> None:
    """Component, tasks, host and port of each executor, and what the scheduler says."""
    handler, address = stand_in
    handler.alive["taxi"] = 0
    with nimbus.connect(address) as client:
        found = nimbus.placement(client, "taxi")
    assert (found.id, found.status, found.scheduler_status) == ("taxi-1", "ACTIVE", "placed")
    assert [(each.component, each.first_task, each.host, each.port) for each in found.executors] == [
        ("dataSource", 1, "a-1", 6700),
        ("parser", 3, "b-1", 6700),
    ]


def test_an_unreachable_nimbus_is_one_error_with_its_address() -> None:
    """Nothing listens there: the message says where."""
    with (
        pytest.raises(NimbusError, match=r"Nimbus 127\.0\.0\.1:1 cannot be reached"),
        nimbus.connect(Address("127.0.0.1", 1)),
    ):
        pass


def test_an_environment_without_streamparse_is_refused(tmp_path: Path) -> None:
    """The file that is missing is named, before Nimbus is asked."""
    submission = TaxiSubmission(name="t", run=Run("r"), redis=Address("redis", 6379), python_env=tmp_path)
    with pytest.raises(FileNotFoundError, match="bin/streamparse_run does not exist"):
        submit(Address("127.0.0.1", 1), submission)
