"""What Nimbus says, over loopback from a scripted service, and what it is asked to change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import thriftpy2

from formats.address import Address
from formats.nimbus import NimbusError
from provisioning.cluster.look import UNREADABLE, RunningExecutor, Source, StormsExecutor
from provisioning.cluster.nimbus import NimbusCluster, RebalanceRefusedError
from tests.scripted_server import closed_port, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
IDL = thriftpy2.load(str(ROOT / "formats/nimbus.thrift"), module_name="scripted_elastic_nimbus_thrift")


class Service:
    """Topology `taxi` of a spout, a bolt in another process, and an acker; `gone` goes meanwhile."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, dict[str, int]]] = []

    def getClusterInfo(self) -> Any:  # noqa: N802 - Storm's name
        resources = {"cpu.pcore.percent": 400.0, "memory.mb": 4096.0}
        return IDL.ClusterSummary(
            supervisors=[
                IDL.SupervisorSummary(host="a", num_workers=4, num_used_workers=1, total_resources=resources),
                IDL.SupervisorSummary(host="b", num_workers=4, num_used_workers=0, blacklisted=True),
            ]
        )

    def getTopologySummaries(self) -> list[Any]:  # noqa: N802 - Storm's name
        return [
            IDL.TopologySummary(id=f"{name}-1-1795843981", name=name, status="ACTIVE")
            for name in ("taxi", "gone", "other")
        ]

    def getTopology(self, id: str) -> Any:  # noqa: A002, N802 - Storm's names
        if id.startswith("gone"):
            raise IDL.NotAliveException(msg="it is gone")
        assert id.startswith("taxi"), "others are not looked at"
        own = json.dumps({"topology.tasks": 12, "topology.component.cpu.pcore.percent": 50.0})
        inputs = {
            IDL.GlobalStreamId(componentId=name, streamId=stream): IDL.Grouping()
            for name, stream in (("rows", "default"), ("rows", "__ack_init"), ("__system", "__tick"))
        }
        java, shell = (
            IDL.ComponentObject(),
            IDL.ComponentObject(shell=IDL.ShellComponent("python3", "bolts.Rank")),
        )
        spout = IDL.ComponentCommon(inputs={}, parallelism_hint=2)
        bolt = IDL.ComponentCommon(inputs=inputs, parallelism_hint=3, json_conf=own)
        acker = IDL.ComponentCommon(inputs=inputs, parallelism_hint=1)
        return IDL.StormTopology(
            spouts={"rows": IDL.SpoutSpec(spout_object=java, common=spout)},
            bolts={
                "parse": IDL.Bolt(bolt_object=shell, common=bolt),
                "__acker": IDL.Bolt(bolt_object=java, common=acker),
            },
        )

    def getTopologyConf(self, id: str) -> str:  # noqa: A002, N802 - Storm's names
        assert id.startswith("taxi")
        return json.dumps({"topology.component.resources.onheap.memory.mb": 256.0, "topology.tasks": None})

    def getTopologyInfoWithOpts(self, id: str, options: Any) -> Any:  # noqa: A002, N802 - Storm's names
        assert options.num_err_choice == IDL.NumErrorsChoice.NONE
        executors = [
            IDL.ExecutorSummary(
                executor_info=IDL.ExecutorInfo(task_start=first, task_end=last),
                component_id=component,
                host="a",
                port=6700,
                uptime_secs=60,
            )
            for component, first, last in (("rows", 14, 15), ("parse", 2, 13), ("__acker", 1, 1))
        ]
        return IDL.TopologyInfo(id=id, executors=executors)

    def rebalance(self, name: str, options: Any) -> None:
        if name == "gone":
            raise IDL.NotAliveException(msg="gone is not alive")
        self.asked.append((name, options.wait_secs, options.num_executors))


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def cluster(service: Service) -> Iterator[NimbusCluster]:
    with serving(IDL.Nimbus, service) as address:
        yield NimbusCluster([address])


def test_a_look_has_what_is_asked_for(cluster: NimbusCluster) -> None:
    look = cluster.look({"taxi", "gone", "unknown"})
    assert set(look.topologies) == {"taxi"}
    assert look.banned == {"b"}
    taxi = look.topologies["taxi"]
    assert taxi.topology_id == "taxi-1-1795843981"
    assert set(taxi.components) == {"rows", "parse"}
    parse, rows = taxi.components["parse"], taxi.components["rows"]
    assert (parse.tasks, parse.inputs, parse.shell) == (12, (Source("rows", "default"),), True)
    assert (parse.script, rows.script) == ("bolts.Rank", "")
    assert (parse.cpu, parse.memory_mb) == (50.0, 256.0)
    assert (rows.tasks, rows.inputs, rows.shell, rows.cpu) == (2, (), False, 10.0)
    assert taxi.executors == (
        RunningExecutor("rows", 14, 15, "a", 6700),
        RunningExecutor("parse", 2, 13, "a", 6700),
    )
    assert taxi.storms == (StormsExecutor("a", 10.0, 256.0),)
    assert (look.supervisors["a"].cpu, look.supervisors["a"].memory_mb) == (400.0, 4096.0)
    assert look.supervisors["b"].cpu == 0.0


@pytest.mark.parametrize("what", ["refused", "no number", "broken"])
def test_a_topology_that_cannot_be_read_hides_no_other_one(what: str) -> None:
    """Its owner has not let us, or has stated what Storm takes and we cannot read."""

    class Odd(Service):
        def getTopologyConf(self, id: str) -> str:  # noqa: A002, N802 - Storm's names
            if not id.startswith("other"):
                return super().getTopologyConf(id)
            if what == "broken":
                return None  # type: ignore[return-value]  # so that a client has a fault of Nimbus' own
            if what == "refused":
                raise IDL.AuthorizationException(msg="getTopologyConf on other is not authorized")
            return json.dumps({"topology.stats.sample.rate": "often"})

        def getTopology(self, id: str) -> Any:  # noqa: A002, N802 - Storm's names
            return super().getTopology(id.replace("other", "taxi"))

        def getTopologyInfoWithOpts(self, id: str, options: Any) -> Any:  # noqa: A002, N802 - Storm's names
            return super().getTopologyInfoWithOpts(id, options)

    with serving(IDL.Nimbus, Odd()) as address:
        look = NimbusCluster([address]).look({"taxi", "other"})
    assert look.topologies["taxi"].fault == ""
    other = look.topologies["other"]
    assert (other.status, other.executors, other.topology_id) == (UNREADABLE, (), "other-1-1795843981")
    said = {"refused": "not authorized", "no number": "often", "broken": ""}
    assert said[what] in other.fault
    assert not look.is_complete


def test_workers_of_a_host(cluster: NimbusCluster) -> None:
    assert cluster.has_workers("a")
    assert not cluster.has_workers("b")
    with pytest.raises(NimbusError, match="does not list unknown"):
        cluster.has_workers("unknown")


def test_a_rebalance_is_one_call(cluster: NimbusCluster, service: Service) -> None:
    cluster.rebalance("taxi", {"parse": 6})
    assert service.asked == [("taxi", 0, {"parse": 6})]


def test_the_nimbus_that_leads_is_asked(service: Service) -> None:
    """Another one says which that is, and may have no answer to anything else."""

    class Standby:
        def getLeader(self) -> Any:  # noqa: N802 - Storm's name
            return IDL.NimbusSummary(host=leads.host, port=leads.port, isLeader=True)

    with serving(IDL.Nimbus, service) as leads, serving(IDL.Nimbus, Standby()) as other:
        cluster = NimbusCluster([other, leads])
        assert "taxi" in cluster.look({"taxi"}).topologies
        cluster.rebalance("taxi", {"parse": 6})
    assert service.asked == [("taxi", 0, {"parse": 6})]


def test_a_refusal_differs_from_silence(cluster: NimbusCluster) -> None:
    with pytest.raises(RebalanceRefusedError, match="refuses to rebalance gone: gone is not alive"):
        cluster.rebalance("gone", {"parse": 6})


def test_no_nimbus_is_one_sentence() -> None:
    address = Address("127.0.0.1", closed_port())
    with pytest.raises(NimbusError, match=f"Nimbus {address}"):
        NimbusCluster([address]).look({"taxi"})
