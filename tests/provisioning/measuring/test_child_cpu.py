"""What processes of components compute for an item, and when that says how long it takes."""

from __future__ import annotations

import pytest

from formats.script_key import script_key
from provisioning.cluster.look import RunningExecutor, Source, StormComponent, TopologyLook
from provisioning.measuring.child_cpu import child_cpu_ms


def component(name: str, script: str, *sources: str) -> StormComponent:
    inputs = tuple(Source(each, "default") for each in sources)
    return StormComponent(name, 2, inputs, shell=bool(script), cpu=10.0, memory_mb=128.0, script=script)


def topology(*scripts: str) -> TopologyLook:
    """A spout, and bolts `0`, `1`, ... in other processes, with two executors each."""
    bolts = {str(number): component(str(number), script, "spout") for number, script in enumerate(scripts)}
    executors = tuple(
        RunningExecutor(name, 10 * int(name) + task, 10 * int(name) + task, "a", 6700)
        for name in bolts
        for task in (1, 2)
    )
    spout = component("spout", "spouts.Rows")
    return TopologyLook("t", "t-1", "ACTIVE", {"spout": spout, **bolts}, executors)


def computed(used_s: float, items: float, per_s: float, *scripts: str) -> dict[str, float]:
    look = topology(*(scripts or ("bolts.Rank",)))
    names = list(look.components)
    child_s = {("t-1", script_key(one.script)): used_s for one in look.components.values()}
    child_s["t-2", script_key("bolts.Rank")] = 9999.0
    return child_cpu_ms(look, child_s, dict.fromkeys(names, items), dict.fromkeys(names, per_s))


def test_executors_that_compute_most_of_their_time() -> None:
    """80 s for 4,000 items; 60 a second keep two executors busy for 60 % of it; spouts are left out."""
    assert computed(80.0, 4000.0, 60.0) == {"0": pytest.approx(20.0)}


def test_executors_that_may_wait_for_something_say_nothing() -> None:
    """The same, but 40 a second: 40 %."""
    assert computed(80.0, 4000.0, 40.0) == {}


def test_several_threads_say_no_more_than_that_executors_are_always_busy() -> None:
    assert computed(400.0, 4000.0, 40.0) == {"0": pytest.approx(50.0)}


@pytest.mark.parametrize(("used_s", "items"), [(9.0, 400.0), (80.0, 300.0)])
def test_the_first_items_say_nothing(used_s: float, items: float) -> None:
    assert computed(used_s, items, 100.0) == {}


def test_components_that_share_a_script_are_not_told_apart() -> None:
    both = ("bolts.Rank", "bolts.Rank", "bolts.Count")
    assert set(computed(80.0, 4000.0, 60.0, *both)) == {"2"}


def test_without_agents_nothing_is_known() -> None:
    assert child_cpu_ms(topology("bolts.Rank"), {}, {"0": 4000.0}, {"0": 60.0}) == {}
