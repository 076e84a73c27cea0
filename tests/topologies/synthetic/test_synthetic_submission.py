"""What Nimbus gets of a synthetic topology: a stand-in that speaks Storm's Thrift looks at it."""

from __future__ import annotations

import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from formats.address import Address
from topologies.submission import submit
from topologies.synthetic.configuration import SyntheticRun, SyntheticSettings
from topologies.synthetic.synthetic_submission import SyntheticSubmission

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.topologies.stand_in import StandIn
    from topologies.synthetic.workload import Workload


@pytest.fixture
def submission(make_workload: Callable[..., Workload]) -> SyntheticSubmission:
    given = make_workload(((0, 1), (0, 2, 4.0), (1, 3), (2, 3)), side=((3, 1, 1.0),))
    return SyntheticSubmission(
        name="s",
        run=SyntheticRun("r1"),
        redis=Address("redis", 6379),
        workload=given,
        workers=2,
        pins={"operator_0": "site:a"},
        conf={"topology.workers": 3, "synthetic.run": "other"},
    )


def test_nimbus_gets_jar_configuration_and_wiring(
    stand_in: tuple[StandIn, Address], submission: SyntheticSubmission
) -> None:
    """The jar holds what components import, the configuration the workload, from which they are made."""
    handler, address = stand_in
    submit(address, submission)
    name, _, conf, topology, options = handler.submitted
    assert (name, options.initial_status) == ("s", 1)
    assert json.loads(conf) == json.loads(json.dumps(submission.configuration()))
    settings = SyntheticSettings.from_conf(json.loads(conf))
    assert (settings.workload, settings.run.id) == (submission.workload, "r1")
    with zipfile.ZipFile(handler.jar) as jar:
        assert "resources/topologies/synthetic/components.py" in jar.namelist()
    kinds = {
        component: each.shell.script.rpartition(".")[2]
        for specs, kind in ((topology.spouts, "spout_object"), (topology.bolts, "bolt_object"))
        for component, spec in specs.items()
        for each in [getattr(spec, kind)]
    }
    assert kinds == {
        "operator_0": "Source",
        "operator_1": "Inner",
        "operator_2": "Inner",
        "operator_3": "Sink",
    }
    command = topology.bolts["operator_1"].bolt_object.shell.execution_command
    assert command == str(Path(sys.prefix) / "bin" / "streamparse_run")


def test_every_stream_has_an_edge_of_its_own(submission: SyntheticSubmission) -> None:
    """Source, stream and target of each edge; one executor per component, flat tuples, none direct."""
    topology = submission.thrift_topology()
    edges = {
        (stream.componentId, stream.streamId, component)
        for component, bolt in topology.bolts.items()
        for stream in bolt.common.inputs
    }
    assert edges == {
        ("operator_0", "s0", "operator_1"),
        ("operator_0", "s1", "operator_2"),
        ("operator_1", "s2", "operator_3"),
        ("operator_2", "s3", "operator_3"),
        ("operator_3", "s4", "operator_1"),
    }
    commons = [each.common for each in (*topology.spouts.values(), *topology.bolts.values())]
    assert all(each.parallelism_hint == 1 for each in commons)
    infos = [info for each in commons for info in each.streams.values()]
    assert len(infos) == 5
    assert all(info.output_fields == ["n", "trail", "load"] and not info.direct for info in infos)


def test_the_users_configuration_wins_but_not_over_the_run(submission: SyntheticSubmission) -> None:
    """Defaults, options, --conf, in this order; the rates are declared before they are measured."""
    conf = submission.configuration()
    assert conf["topology.workers"] == 3
    assert conf["synthetic.run"] == "r1"
    assert conf["topology.stormplace.pin"] == {"operator_0": "site:a"}
    assert conf["topology.stormplace.rates"] == {
        "operator_0": 10.0,
        "operator_1": 10.0,
        "operator_2": 10.0,
        "operator_3": 1.0,
    }


def test_an_environment_without_streamparse_is_refused(
    make_workload: Callable[..., Workload], tmp_path: Path
) -> None:
    """The file that is missing is named, before Nimbus is asked."""
    given = SyntheticSubmission(
        name="s",
        run=SyntheticRun("r"),
        redis=Address("redis", 1),
        workload=make_workload(((0, 1),)),
        python_env=tmp_path,
    )
    with pytest.raises(FileNotFoundError, match="bin/streamparse_run does not exist"):
        submit(Address("127.0.0.1", 1), given)


def test_work_is_declared_and_components_ask_for_their_own_processor_time(
    submission: SyntheticSubmission,
) -> None:
    """Storm measures no work of components in other processes; its schedulers read CPU per component."""
    asked = replace(submission, conf={"synthetic.cpu.percent": {"operator_1": 150}})
    times = asked.configuration()["topology.stormplace.execution.ms"]
    assert times == {f"operator_{i}": 2.0 for i in range(4)}
    bolts = asked.thrift_topology().bolts
    own = {name: json.loads(bolt.common.json_conf) for name, bolt in bolts.items()}
    assert own["operator_1"] == {"topology.component.cpu.pcore.percent": 150.0}
    assert own["operator_2"] == {}


def test_replay_brings_an_acker_and_needs_one(submission: SyntheticSubmission) -> None:
    assert (
        replace(submission, conf={"synthetic.replay": True}).configuration()["topology.acker.executors"] == 1
    )
    without = replace(submission, conf={"synthetic.replay": True, "topology.acker.executors": 0})
    with pytest.raises(ValueError, match="without ackers nothing is sent again"):
        without.configuration()
