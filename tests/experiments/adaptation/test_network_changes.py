"""Changes of the network follow where the query runs, are noted as they are done, and are put back."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from experiments.adaptation.network_changes import Network, remote_site, site_delays
from experiments.adaptation.schedule import Step
from experiments.lab_steps import StepError
from formats.site_file import Link, NetworkSettings, Site, SiteFile
from lab.errors import LabError
from tests.experiments.lab_double import Lab

if TYPE_CHECKING:
    from pathlib import Path

SITES = SiteFile(
    None,
    NetworkSettings(),
    (Site("far-west", 1, 2), Site("home", 3, 2, services=True), Site("near", 2, 2)),
    (Link(["far-west", "home"], 50.0), Link(["home", "near"], 20.0), Link(["far-west", "near"], 60.0)),
)


def placement(*hosts: str, acker: str = "home-1") -> str:
    executors = [{"component": f"c{index}", "host": host} for index, host in enumerate(hosts)]
    return json.dumps({"id": "taxi-1", "executors": [*executors, {"component": "__acker", "host": acker}]})


@pytest.fixture
def world(tmp_path: Path) -> Any:
    """A network whose query runs at near until `moves` says otherwise; clock and lines are scripted."""

    class World:
        def __init__(self) -> None:
            self.acts: dict[str, Any] = {}
            self.lab = Lab(tmp_path, self.acts)
            self.lab.state = "ready"
            self.placement = placement("home-1", "near-1", "near-2")
            self.lines: list[str] = []
            times = count(1000)
            self.network = Network(
                self.lab,  # type: ignore[arg-type]  # a double
                SITES,
                lambda: self.placement,
                lambda: float(next(times)),
                self.lines.append,
            )

        def do(self, *kinds: Any) -> None:
            for kind in kinds:
                self.network.carry_out(Step(0.0, kind))

    return World()


@pytest.mark.parametrize(
    ("hosts", "site"),
    [
        (("home-1", "home-1", "home-2", "near-1"), "near"),
        (("far-west-1", "near-1", "near-2"), "near"),
        (("near-1", "far-west-1"), "far-west"),
    ],
)
def test_the_remote_site_in_use_holds_most_executors_beyond_home(hosts: tuple[str, ...], site: str) -> None:
    """Among equals the first name; names of sites may hold dashes."""
    assert remote_site(placement(*hosts), "home") == site


def test_storms_own_executors_do_not_make_a_site_used() -> None:
    with pytest.raises(StepError, match="the query runs at home alone"):
        remote_site(placement("home-1", "home-2", acker="near-1"), "home")


def test_the_link_in_use_triples_and_the_site_then_in_use_goes_and_comes_back(world: Any) -> None:
    """Each event says what was done, when it was done; the query has moved between the first two."""
    world.do("delay")
    world.placement = placement("home-1", "far-west-1")
    world.do("isolate", "rejoin")
    assert world.lab.changes == [
        ("delay", "home", "near", 60.0),
        ("isolate", "far-west"),
        ("rejoin", "far-west"),
    ]
    delay, isolate, rejoin = world.network.events
    assert (delay.time_s, delay.kind, delay.sites, delay.delay_ms) == (1000, "delay", ("home", "near"), 60.0)
    assert delay.delays == (("home", "near", 60.0),)
    assert (isolate.time_s, isolate.kind, isolate.sites, isolate.delay_ms) == (
        1001,
        "isolate",
        ("far-west",),
        None,
    )
    assert (rejoin.time_s, rejoin.kind, rejoin.sites) == (1002, "rejoin", ("far-west",))
    assert world.lines == [event.text for event in world.network.events]


def test_noise_sets_every_delay_and_is_one_event(world: Any) -> None:
    drawn = tuple((pair, ms * 1.1) for pair, ms in site_delays(SITES).items())
    world.network.carry_out(Step(0.0, "noise", drawn))
    assert world.lab.changes == [("delay", *pair, ms) for pair, ms in drawn]
    (event,) = world.network.events
    assert (event.kind, event.sites) == ("noise", ("far-west", "home", "near"))
    assert event.delays == tuple((*pair, ms) for pair, ms in drawn)


def test_everything_is_put_back_once(world: Any) -> None:
    """Delays that were changed, and a site that never rejoined; the rest is left alone."""
    world.do("delay", "isolate")
    world.lab.changes.clear()
    world.network.restore()
    world.network.restore()
    assert world.lab.changes == [("rejoin", "near"), ("delay", "home", "near", 20.0)]
    event = world.network.events[-1]
    assert (event.kind, event.sites) == ("restore", ("home", "near"))
    assert [each.kind for each in world.network.events].count("restore") == 1


def test_a_network_that_was_left_alone_is_not_touched(world: Any) -> None:
    world.network.restore()
    assert (world.lab.changes, world.network.events) == ([], [])


def test_what_the_lab_refuses_is_no_event_but_is_put_back_as_far_as_it_went(world: Any) -> None:
    """The second of three delays fails; the first and the second are set again."""

    def refuse(change: tuple[Any, ...]) -> None:
        if change[2] == "near" and change[1] == "far-west":
            raise LabError("no")

    world.acts["delay"] = refuse
    with pytest.raises(LabError):
        world.network.carry_out(Step(0.0, "noise", tuple((pair, 1.0) for pair in site_delays(SITES))))
    assert world.network.events == []
    del world.acts["delay"]
    world.lab.changes.clear()
    world.network.restore()
    assert ("delay", "far-west", "home", 50.0) in world.lab.changes
    assert ("delay", "far-west", "near", 60.0) in world.lab.changes
