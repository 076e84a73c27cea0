"""What is wrong with Nimbus, or with its replies about one topology, costs no more than it must."""

from __future__ import annotations

import math
from typing import Any

import pytest

from formats.nimbus import NimbusError
from monitoring.rates.nimbus_faults import ReplyError, ReplyFault, lacking
from tests.monitoring.rates.scripted_nimbus import PATH, Scene


@pytest.fixture
def scene(fake_clock: Any, log: Any) -> Scene:
    return Scene(fake_clock, log)


@pytest.mark.parametrize("kind", ReplyFault)
@pytest.mark.parametrize("at", ["unusable_shapes", "unusable_executors"])
def test_a_topology_without_a_usable_reply_costs_no_other_its_rates(
    scene: Scene, at: str, kind: ReplyFault
) -> None:
    """It is looked at before the other one: named once, counted each time."""
    scene.nimbus.statuses = {"a-1": "ACTIVE", "taxi-1": "ACTIVE"}
    setattr(scene.nimbus, at, {"a-1": ReplyError(kind, "nothing for you")})
    scene.run(120)
    assert set(scene.nodes.now) == {PATH}
    assert scene.log.events[0] == ("topology-unreadable", {"topology": "a-1", "reason": "nothing for you"})
    assert scene.log.names() == ["topology-unreadable", "rates-complete"]
    assert scene.value("topology_faults_total", kind=kind) == 12
    assert scene.value("looks_total", outcome="answered") == 12
    assert scene.value("looks_total", outcome="failed") == 0
    setattr(scene.nimbus, at, {})
    scene.run(240)
    assert set(scene.nodes.now) == {PATH, "/s/rates/a-1"}
    assert scene.log.names()[2:] == ["topology-readable-again", "rates-complete"]


def test_a_fault_of_another_kind_is_named_again(scene: Scene) -> None:
    """Words of Nimbus may differ in each look, kinds do not."""
    for number in range(4):
        kind = ReplyFault.REFUSED if number < 2 else ReplyFault.FAILED
        scene.nimbus.unusable_executors["taxi-1"] = ReplyError(kind, f"request {number}")
        scene.run(10.0 * (number + 1))
    assert [fields["reason"] for _, fields in scene.log.events] == ["request 0", "request 2"]


def test_a_reply_that_lacks_fields_leaves_the_last_reading_and_its_age(scene: Scene) -> None:
    """How many executors lack statistics is not known then."""
    scene.run(120)
    scene.nimbus.unusable_executors["taxi-1"] = lacking("the executors")
    scene.run(150)
    reading = scene.reading()
    assert reading is not None
    assert reading["time"] == 1e9 + 120
    figures = scene.collector.figures()
    assert math.isnan(figures.missing["taxi-1"])
    assert figures.age_s["taxi-1"] == 30


def test_a_topology_without_a_status_is_kept_and_named(scene: Scene) -> None:
    """A field that is missing does not say that the topology has ended."""
    scene.run(120)
    scene.nimbus.statuses["taxi-1"] = ""
    scene.run(150)
    assert scene.reading() is not None
    assert scene.log.names() == ["rates-complete", "topology-unreadable"]


def test_an_unreadable_topology_that_ended_is_forgotten(scene: Scene) -> None:
    """Its figures go with it."""
    scene.nimbus.unusable_shapes["taxi-1"] = lacking("spouts or bolts")
    scene.run(20)
    assert set(scene.collector.figures().missing) == {"taxi-1"}
    scene.nimbus.statuses = {}
    scene.run(30)
    assert scene.collector.figures().missing == {}


def test_trouble_with_the_connection_ends_the_look(scene: Scene) -> None:
    """Nothing else can be asked over it."""
    scene.nimbus.statuses = {"a-1": "ACTIVE", "taxi-1": "ACTIVE"}
    scene.nimbus.unusable_executors["a-1"] = NimbusError("timed out")
    scene.run(20)
    assert scene.log.names() == ["nimbus-silent"]
    assert scene.value("looks_total", outcome="failed") == 2
    assert scene.value("topology_faults_total", kind="failed") == 0


def test_counts_of_looks_never_go_back_in_the_middle_of_one(scene: Scene) -> None:
    """A look that is going to fail was never an answered one."""
    seen: list[float | None] = []
    scene.nimbus.during_a_look = lambda: seen.append(scene.value("looks_total", outcome="answered"))
    scene.run(20)
    scene.nimbus.unusable_executors["taxi-1"] = NimbusError("timed out")
    scene.run(30)
    seen.append(scene.value("looks_total", outcome="answered"))
    assert seen == [0, 1, 2, 2]
    assert scene.value("looks_total", outcome="failed") == 1
