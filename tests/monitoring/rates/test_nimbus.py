"""Rules of talking to Nimbus: over loopback to a scripted Thrift service, and a collector without any."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import thriftpy2
from thriftpy2.thrift import TApplicationException

from formats.address import Address
from formats.nimbus import NimbusError
from monitoring.rates.counters import Shape, Stream
from monitoring.rates.nimbus import NimbusClient, TopologyGoneError, connect
from monitoring.rates.nimbus_faults import ReplyError, ReplyFault
from tests.scripted_server import closed_port, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[3]
IDL = thriftpy2.load(str(ROOT / "formats/nimbus.thrift"), module_name="scripted_nimbus_thrift")
ALL = ":all-time"


class Service:
    """Topology `taxi-1`, of one spout and one bolt with statistics; `secret-1` refuses questions."""

    def __init__(self) -> None:
        self.leader: Address | None = None

    def getLeader(self) -> Any:  # noqa: N802 - Storm's name
        if self.leader is None:
            raise TApplicationException(TApplicationException.INTERNAL_ERROR, "no leader elected")
        return IDL.NimbusSummary(host=self.leader.host, port=self.leader.port, isLeader=True)

    def getTopologySummaries(self) -> list[Any]:  # noqa: N802 - Storm's name
        return [IDL.TopologySummary(id="taxi-1", status="ACTIVE")]

    def getTopology(self, id: str) -> Any:  # noqa: A002, N802 - Storm's names
        self._must_live(id)
        nothing = IDL.ComponentObject()
        default = {IDL.GlobalStreamId(componentId="spout", streamId="default"): IDL.Grouping()}
        return IDL.StormTopology(
            spouts={"spout": IDL.SpoutSpec(spout_object=nothing, common=IDL.ComponentCommon(inputs={}))},
            bolts={"bolt": IDL.Bolt(bolt_object=nothing, common=IDL.ComponentCommon(inputs=default))},
        )

    def getTopologyInfoWithOpts(self, id: str, options: Any) -> Any:  # noqa: A002, N802 - Storm's names
        self._must_live(id)
        assert options.num_err_choice == IDL.NumErrorsChoice.NONE
        stream = IDL.GlobalStreamId(componentId="spout", streamId="default")
        bolt = IDL.BoltStats(executed={ALL: {stream: 40}}, execute_ms_avg={ALL: {stream: 0.5}})
        acked, complete = {ALL: {"default": 3}}, {ALL: {"default": 10.0}}
        spout = IDL.SpoutStats(acked=acked, failed={}, complete_ms_avg=complete)
        specific = {
            "bolt": IDL.ExecutorSpecificStats(bolt=bolt),
            "spout": IDL.ExecutorSpecificStats(spout=spout),
        }
        executors = [
            IDL.ExecutorSummary(
                executor_info=IDL.ExecutorInfo(task_start=task, task_end=task + 1),
                component_id=component,
                host="a",
                port=6700,
                uptime_secs=60,
                stats=IDL.ExecutorStats(emitted={}, transferred={}, specific=each, rate=20.0),
            )
            for task, (component, each) in zip((1, 3), specific.items(), strict=True)
        ]
        return IDL.TopologyInfo(id=id, executors=executors)

    def _must_live(self, topology: str) -> None:
        if topology == "secret-1":
            raise IDL.AuthorizationException(msg=f"{topology} is not yours")
        if topology != "taxi-1":
            raise IDL.NotAliveException(msg=f"{topology} is not alive")


@pytest.fixture(scope="module")
def nimbus() -> Iterator[Address]:
    service = Service()
    with serving(IDL.Nimbus, service) as address:
        service.leader = address
        yield address


def test_counters_come_over_the_wire(nimbus: Address) -> None:
    """Nested maps with structs as keys, unions and optional fields are read as Storm writes them."""
    with connect([nimbus]) as client:
        assert client.topologies() == {"taxi-1": "ACTIVE"}
        shape = client.shape("taxi-1")
        executor, source = client.executors("taxi-1", shape)
    stream = Stream("spout", "default")
    assert shape.inputs == {"spout": (), "bolt": (stream,)}
    assert (executor.name, executor.host, executor.port) == ("bolt[1]", "a", 6700)
    assert executor.counters is not None
    assert executor.counters.executed == {stream: 40}
    assert executor.counters.execute_ms == {stream: 1.0}
    assert source.counters is not None
    assert source.counters.complete_ms == 3 * 10.0


def test_a_topology_that_is_gone_is_no_trouble_of_nimbus(nimbus: Address) -> None:
    """Its end differs from Nimbus' own."""
    with connect([nimbus]) as client:
        with pytest.raises(TopologyGoneError):
            client.shape("taxi-2")
        assert client.topologies() == {"taxi-1": "ACTIVE"}


def test_the_first_nimbus_that_accepts_is_asked(nimbus: Address) -> None:
    """A standby that is down costs nothing but its refusal."""
    with connect([Address("127.0.0.1", closed_port()), nimbus]) as client:
        assert client.topologies() == {"taxi-1": "ACTIVE"}


def test_a_leader_that_is_down_is_named(nimbus: Address) -> None:
    """It is not mixed up with the one that named it."""
    standby, gone = Service(), Address("127.0.0.1", closed_port())
    standby.leader = gone
    with (
        serving(IDL.Nimbus, standby) as address,
        pytest.raises(NimbusError, match=f"Nimbus {gone} cannot be reached"),
        connect([address, nimbus]),
    ):
        pass


def test_the_next_one_is_asked_if_one_names_no_leader(nimbus: Address) -> None:
    with serving(IDL.Nimbus, Service()) as starting, connect([starting, nimbus]) as client:
        assert client.topologies() == {"taxi-1": "ACTIVE"}


def test_while_none_leads_the_cause_is_said() -> None:
    """As in the seconds after a leader's end; one address alone is asked whatever it is."""
    gone = Address("127.0.0.1", closed_port())
    with serving(IDL.Nimbus, Service()) as address:
        with (
            pytest.raises(NimbusError, match=f"{address} names no leader: no leader elected"),
            connect([address, gone]),
        ):
            pass
        with connect([address]) as client:
            assert client.topologies() == {"taxi-1": "ACTIVE"}


def test_without_any_nimbus_each_is_named() -> None:
    """One sentence with every address."""
    ports = closed_port(), closed_port()
    with (
        pytest.raises(
            NimbusError, match=rf"127.0.0.1:{ports[0]} cannot be reached: .*; Nimbus 127.0.0.1:{ports[1]} "
        ),
        connect([Address("127.0.0.1", port) for port in ports]),
    ):
        pass


def calls(client: NimbusClient, topology: str) -> dict[str, Callable[[], object]]:
    return {
        "getTopology": lambda: client.shape(topology),
        "getTopologyInfoWithOpts": lambda: client.executors(topology, Shape({})),
    }


@pytest.mark.parametrize("call", ["getTopology", "getTopologyInfoWithOpts"])
def test_a_topology_that_is_closed_to_questions_is_its_own_fault(nimbus: Address, call: str) -> None:
    """The connection stands, and Nimbus answers about others."""
    with connect([nimbus]) as client:
        with pytest.raises(ReplyError, match="secret-1 is not yours") as caught:
            calls(client, "secret-1")[call]()
        assert caught.value.kind is ReplyFault.REFUSED
        assert client.shape("taxi-1").inputs


@pytest.mark.parametrize("call", ["getTopology", "getTopologyInfoWithOpts"])
def test_a_question_over_which_nimbus_stumbles_is_the_topologys_fault(call: str) -> None:
    """Storm answers so to whatever it did not expect itself."""

    def stumble(*_: object) -> None:
        raise TApplicationException(TApplicationException.INTERNAL_ERROR, "Internal error processing it")

    client = NimbusClient(SimpleNamespace(**{call: stumble}))
    with pytest.raises(ReplyError, match="Internal error") as caught:
        calls(client, "taxi-1")[call]()
    assert caught.value.kind is ReplyFault.FAILED


def test_trouble_with_the_connection_is_no_topologys_fault(nimbus: Address) -> None:
    """Whatever is asked next would fail as well."""

    def hang(*_: object) -> None:
        raise TimeoutError("timed out")

    with pytest.raises(NimbusError, match="timed out"), connect([nimbus]):
        NimbusClient(SimpleNamespace(getTopology=hang)).shape("taxi-1")


def test_a_list_without_an_id_is_no_answer() -> None:
    """It is unknown which topologies there are; nothing is taken for an empty cluster."""
    reply = [SimpleNamespace(id=None, status="ACTIVE")]
    with pytest.raises(NimbusError, match="lacks an id"):
        NimbusClient(SimpleNamespace(getTopologySummaries=lambda: reply)).topologies()


def test_a_status_that_is_missing_is_no_status() -> None:
    """The topology is there all the same."""
    reply = [SimpleNamespace(id="taxi-1", status=None), SimpleNamespace(id="taxi-2", status="ACTIVE")]
    client = NimbusClient(SimpleNamespace(getTopologySummaries=lambda: reply))
    assert client.topologies() == {"taxi-1": "", "taxi-2": "ACTIVE"}


def test_a_collector_without_nimbus_says_so_once_and_ends_when_asked(zookeeper: Any, root: str) -> None:
    """It waits for Nimbus, and does not make anybody wait for it."""
    where = ["--nimbus", f"127.0.0.1:{closed_port()}", "--zookeeper", zookeeper.address, "--root", root]
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "rates", *where, "--interval-s", "1"],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    lines = [json.loads(process.stderr.readline()) for _ in range(3)]
    process.send_signal(signal.SIGTERM)
    lines += [json.loads(line) for line in process.stderr]
    assert process.wait(timeout=60) == 0
    events = sorted(line["event"] for line in lines)
    assert events == ["collector-started", "collector-stopped", "nimbus-silent", "zookeeper-connected"]
    assert lines[-1]["failed_looks"] == lines[-1]["looks"] >= 1
