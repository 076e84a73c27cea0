"""A workload survives the topology's configuration, and what cannot be run is refused in one sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from topologies.synthetic.configuration import SyntheticRun, SyntheticSettings
from topologies.synthetic.journey import begin, extend, parse, path_of
from topologies.synthetic.workload import Workload, WorkloadError, component_ids

if TYPE_CHECKING:
    from collections.abc import Callable


def test_it_is_read_back_from_json(make_workload: Callable[..., Workload]) -> None:
    """Configuration crosses Nimbus as JSON; nothing of the workload is lost."""
    given = make_workload(((0, 1), (0, 2, 4.0), (1, 3), (2, 3)), side=((3, 1),))
    conf = {
        "synthetic.redis": "redis:6379",
        "synthetic.run": "r",
        "synthetic.workload": json.loads(json.dumps(given.to_conf())),
    }
    assert SyntheticSettings.from_conf(conf).workload == given
    assert (given.sources, given.sinks) == ((0,), (3,))
    assert given.way((1, 3)) == ("operator 0", "operator 2", "operator 3")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"edges": ((0, 1, 0.0),)}, "stream operator 0 -> operator 1 has rate 0: nothing would ever come"),
        ({"edges": ((0, 1), (1, 0))}, "no operator is a source"),
        ({"edges": ((0, 1), (1, 3))}, "operator operator 2 has no critical stream"),
        ({"edges": ((0, 1),), "work_ms": 150.0}, r"1\.5 s of work per second .* rates by less than 0\.67"),
        ({"edges": ((0, 1),), "work_ms": 20_000.0}, "20000 ms of work per tuple: at most 10000"),
        ({"edges": ((0, 1),), "tuple_bytes": 2e6}, r"tuples of 2e\+06 bytes: at most 1e\+06"),
        (
            {"edges": ((0, 1),), "side": ((1, 0),)},
            "operator 1 -> operator 0 leads to a source: Storm's spouts",
        ),
        ({"edges": ((0, 1),), "tuples": 0}, "0 tuples: there must be 1 to 1000000"),
        ({"edges": ((0, 1),), "warm_up_s": -1.0}, "a warm-up of -1 s"),
    ],
)
def test_what_cannot_be_run_is_refused(
    make_workload: Callable[..., Workload], arguments: dict[str, object], sentence: str
) -> None:
    """Rate 0, a cycle, an operator that nothing reaches, more work than time, sizes out of range."""
    with pytest.raises(WorkloadError, match=sentence):
        make_workload(**arguments)


@pytest.mark.parametrize("conf", [None, [], {"operators": []}, {"operators": [{"name": "a"}]}])
def test_a_configuration_that_is_none_is_refused(conf: object) -> None:
    """A topology of another kind, or of another version, is reported as such."""
    with pytest.raises(WorkloadError, match="this is no workload"):
        Workload.from_conf(conf)


def test_component_ids_are_what_storm_takes() -> None:
    """Other characters are replaced, ids of Storm's own and ids in use avoided."""
    names = ("operator-1", "a b", "a_b", "__acker", "näh", "", "a_b-2")
    assert component_ids(names) == ("operator-1", "a_b", "a_b-2", "acker", "n_h", "operator", "a_b-2-2")


@pytest.mark.parametrize("run", ["", "a/b", ".a", "x" * 65])
def test_ids_of_runs_are_plain(run: str) -> None:
    """They become part of Redis keys."""
    with pytest.raises(ValueError, match="must be 1 to 64 letters"):
        SyntheticRun(run)


def test_a_trail_says_the_way_and_the_times() -> None:
    """Source, then each operator: stream, taken, done, in microseconds after the source's beginning."""
    trail = extend(extend(begin(1_000, 1_030), 3, 1_100, 1_150), 12, 1_200, 1_260)
    assert trail == "1000 30 3 100 150 12 200 260"
    assert path_of(trail, 7) == (3, 12, 7)
    journey = parse(trail)
    assert (journey.emit_us, journey.delay_us) == (1_000, 260)
    assert (journey.path, journey.in_us, journey.out_us) == ((3, 12), (100, 200), (30, 150, 260))
    for broken in ("1000", "1000 30", "1000 30 3 100", "1000 x"):
        with pytest.raises(ValueError, match=r"is no trail|invalid literal"):
            parse(broken)
