"""Rules of reading Nimbus' replies: what is there, what is missing, what cannot be true."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from monitoring.rates.counters import ACKED, ACKER, FAILED, Shape, Stream
from monitoring.rates.nimbus_faults import ReplyError, ReplyFault
from monitoring.rates.nimbus_statistics import StatisticsFault, executor_looks, topology_shape

ALL = ":all-time"
SPOUT = Stream("spout", "default")
SHAPE = Shape({"spout": (), "bolt": (SPOUT,), "shell": (SPOUT,)}, frozenset({"spout"}), frozenset({"shell"}))


class Id(SimpleNamespace):
    """A key of Thrift maps, distinct by identity as thriftpy2's are."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def gsid(component: str | None, stream: str | None) -> Id:
    return Id(componentId=component, streamId=stream)


def bolt_stats(**changes: Any) -> SimpleNamespace:
    tuples, ticks = gsid("spout", "default"), gsid("__system", "__tick")
    specific = SimpleNamespace(
        executed={ALL: {tuples: 400, ticks: 20}, "600": {tuples: 400}},
        execute_ms_avg={ALL: {tuples: 2.5, ticks: 0.0}},
    )
    specific.__dict__.update({key: value for key, value in changes.items() if hasattr(specific, key)})
    stats: dict[str, Any] = {
        "emitted": {ALL: {"default": 100, "__metrics": 20, "__ack_ack": 60}},
        "transferred": {ALL: {"default": 200}},
        "specific": SimpleNamespace(bolt=specific, spout=None),
        "rate": 20.0,
    }
    return SimpleNamespace(**{**stats, **{key: value for key, value in changes.items() if key in stats}})


def summary(component: str, stats: Any, **changes: Any) -> SimpleNamespace:
    fields: dict[str, Any] = {
        "executor_info": SimpleNamespace(task_start=3, task_end=4),
        "component_id": component,
        "host": "a",
        "port": 6700,
        "uptime_secs": 60,
        "stats": stats,
    }
    return SimpleNamespace(**{**fields, **changes})


def look(component: str, stats: Any, **changes: Any) -> Any:
    (found,) = executor_looks(SimpleNamespace(executors=[summary(component, stats, **changes)]), SHAPE)
    return found


def test_a_bolts_counters_are_those_of_user_streams_and_acking() -> None:
    """The window since the start counts; ticks and metrics of Storm's own do not."""
    one = look("bolt", bolt_stats())
    assert (one.name, one.tasks, one.host, one.port, one.fault) == ("bolt[3]", 2, "a", 6700, "")
    assert one.counters.step == 20
    assert one.counters.uptime_s == 60
    assert one.counters.emitted == {"default": 100, "__ack_ack": 60}
    assert one.counters.transferred == {"default": 200}
    assert one.counters.executed == {SPOUT: 400}
    assert one.counters.execute_ms == {SPOUT: 2.5 * 400 / 20}


def test_a_bolt_is_busy_with_ticks_too() -> None:
    """What it does by the clock costs time, though no other component sends it."""
    tuples, ticks = gsid("spout", "default"), gsid("__system", "__tick")
    one = look("bolt", bolt_stats(execute_ms_avg={ALL: {tuples: 2.5, ticks: 40.0}}))
    assert one.counters.busy_ms == 2.5 * 400 + 40.0 * 20


def test_a_spout_takes_what_ends_its_trees() -> None:
    """Acked and failed trees of all its streams are tuples of the ackers."""
    one = look("spout", spout_stats({ALL: {"a": 10.0, "b": 20.0}}))
    assert one.counters.executed == {Stream(ACKER, ACKED): 7, Stream(ACKER, FAILED): 0}
    assert one.counters.execute_ms is None
    assert one.counters.complete_ms == 10.0 * 3 + 20.0 * 4


def spout_stats(means: Any) -> SimpleNamespace:
    spout = SimpleNamespace(acked={ALL: {"a": 3, "b": 4}}, failed={}, complete_ms_avg=means)
    return bolt_stats(specific=SimpleNamespace(bolt=None, spout=spout))


@pytest.mark.parametrize("means", [None, {ALL: {"a": 1.0}}, {ALL: {"a": 1.0, "b": float("nan")}}])
def test_a_time_to_acknowledge_that_is_missing_is_none(means: Any) -> None:
    """Of one of its streams, too."""
    assert look("spout", spout_stats(means)).counters.complete_ms is None


def test_the_execution_time_of_another_process_is_not_measured() -> None:
    """Storm times only the handing over to it."""
    counters = look("shell", bolt_stats()).counters
    assert (counters.execute_ms, counters.busy_ms) == (None, None)


@pytest.mark.parametrize("means", [None, {}, {ALL: {}}, {ALL: {gsid("spout", "default"): float("nan")}}])
def test_an_execution_time_that_is_missing_is_none(means: Any) -> None:
    """Counters are used all the same."""
    counters = look("bolt", bolt_stats(execute_ms_avg=means)).counters
    assert counters.executed == {SPOUT: 400}
    assert (counters.execute_ms, counters.busy_ms) == (None, None)


def test_nothing_counted_yet_is_a_true_zero() -> None:
    """Storm has no windows before the first tuple."""
    counters = look("bolt", bolt_stats(emitted={}, transferred={}, executed={}, execute_ms_avg={})).counters
    assert (counters.emitted, counters.executed, counters.busy_ms) == ({}, {}, 0.0)


def test_an_executor_without_statistics_has_no_counters_and_no_fault() -> None:
    """Its worker has not rendered any yet."""
    one = look("bolt", None)
    assert one.counters is None
    assert one.fault == ""


@pytest.mark.parametrize(
    ("stats", "fault"),
    [
        (bolt_stats(emitted=None), "emitted is missing"),
        (bolt_stats(transferred=None), "transferred is missing"),
        (bolt_stats(executed=None), "executed is missing"),
        (bolt_stats(executed={ALL: {gsid(None, "default"): 1}}), "the source of tuples is missing"),
        (bolt_stats(executed={ALL: {gsid("spout", None): 1}}), "the source of tuples is missing"),
        (bolt_stats(execute_ms_avg={ALL: {gsid(None, "default"): 1}}), "the source of tuples is missing"),
        (bolt_stats(emitted={"600": {"default": 1}}), "emitted has no window :all-time"),
        (bolt_stats(emitted={ALL: {"default": -1}}), "emitted has a count below zero"),
        (bolt_stats(rate=None), "sampling rate is missing"),
        (bolt_stats(rate=0.0), "sampling rate is not from 1 to 1e+09"),
        (bolt_stats(rate=float("nan")), "sampling rate is not from 1 to 1e+09"),
        (bolt_stats(specific=None), "no statistics of a bolt or a spout"),
        (bolt_stats(specific=SimpleNamespace(bolt=None, spout=None)), "no statistics of a bolt or a spout"),
    ],
)
def test_missing_and_impossible_fields_are_faults(stats: Any, fault: str) -> None:
    """Nothing of such statistics is used."""
    one = look("bolt", stats)
    assert one.counters is None
    assert one.fault == fault
    numbers = ("below zero", "not from")
    kind = StatisticsFault.IMPOSSIBLE if any(word in fault for word in numbers) else StatisticsFault.MISSING
    assert one.fault_kind is kind


@pytest.mark.parametrize(
    ("uptime_s", "fault"),
    [(None, "uptime is missing"), (-1, "uptime is below zero"), (-9, "uptime is below zero")],
)
def test_an_impossible_age_is_a_fault(uptime_s: int | None, fault: str) -> None:
    """Without the worker's age there is no window. The words stay the same, so that they are logged once."""
    one = look("bolt", bolt_stats(), uptime_secs=uptime_s)
    assert one.counters is None
    assert one.fault == fault


def test_system_components_are_left_out_but_ackers_are_not() -> None:
    """They exchange no tuples of the topology."""
    names = ["bolt", "__acker", "__system", "__metrics_0", "__eventlogger"]
    info = SimpleNamespace(executors=[summary(name, bolt_stats()) for name in names])
    assert [one.component for one in executor_looks(info, SHAPE)] == ["bolt", "__acker"]


@pytest.mark.parametrize(
    ("changes", "lacks"),
    [
        ({"executor_info": None}, "the tasks of an executor"),
        ({"executor_info": SimpleNamespace(task_start=1, task_end=None)}, "the tasks of an executor"),
        ({"component_id": None}, "the component of an executor"),
        ({"host": None}, "the host or port of an executor"),
        ({"host": ""}, "the host or port of an executor"),
        ({"port": None}, "the host or port of an executor"),
    ],
)
def test_an_executor_that_is_nowhere_or_nothing_makes_the_reply_unusable(
    changes: dict[str, Any], lacks: str
) -> None:
    """No host without a name comes into the pairs of hosts."""
    with pytest.raises(ReplyError, match=f"lacks {lacks}") as caught:
        look("bolt", bolt_stats(), **changes)
    assert caught.value.kind is ReplyFault.INCOMPLETE


def test_a_reply_without_executors_is_not_an_idle_topology() -> None:
    """The field is missing; an empty list is not."""
    with pytest.raises(ReplyError, match="lacks the executors"):
        executor_looks(SimpleNamespace(executors=None), SHAPE)
    assert executor_looks(SimpleNamespace(executors=[]), SHAPE) == ()


def component(inputs: list[Id], hint: int | None = 1, *, multilang: bool = False) -> Any:
    body = SimpleNamespace(shell=SimpleNamespace() if multilang else None)
    common = SimpleNamespace(inputs=dict.fromkeys(inputs), parallelism_hint=hint)
    return SimpleNamespace(common=common, bolt_object=body, spout_object=body)


def topology(ackers: int) -> Any:
    return SimpleNamespace(
        spouts={"spout": component([gsid("__acker", "__ack_ack"), gsid("__system", "__tick")])},
        bolts={
            "bolt": component([gsid("spout", "default")], None, multilang=True),
            "__acker": component([gsid("spout", "__ack_init"), gsid("bolt", "__ack_ack")], ackers),
            "__system": component([], 0),
        },
    )


def test_the_shape_is_who_takes_what() -> None:
    """User components and ackers with their subscriptions, without Storm's own streams."""
    shape = topology_shape(topology(ackers=1))
    assert shape.inputs == {
        "spout": (Stream("__acker", "__ack_ack"),),
        "bolt": (SPOUT,),
        "__acker": (Stream("bolt", "__ack_ack"), Stream("spout", "__ack_init")),
    }
    assert shape.spouts == {"spout"}
    assert shape.shells == {"bolt"}


def test_ackers_that_are_switched_off_are_not_there() -> None:
    """Storm lists them without tasks."""
    assert topology_shape(topology(ackers=0)).inputs == {"spout": (), "bolt": (SPOUT,)}


def broken(part: str, name: str, **changes: Any) -> Any:
    """Return the topology with a component that lacks something."""
    whole = topology(ackers=1)
    getattr(whole, part)[name].__dict__.update(changes)
    return whole


@pytest.mark.parametrize(
    ("found", "lacks"),
    [
        (SimpleNamespace(spouts=None, bolts={}), "spouts or bolts"),
        (SimpleNamespace(spouts={}, bolts=None), "spouts or bolts"),
        (broken("spouts", "spout", common=None), "what a component subscribes to"),
        (
            broken("bolts", "bolt", common=SimpleNamespace(inputs=None, parallelism_hint=1)),
            "what a component subscribes to",
        ),
        (broken("bolts", "bolt", bolt_object=None), "what a bolt is made of"),
        (broken("bolts", "bolt", common=component([gsid(None, "default")]).common), "the source"),
        (broken("bolts", "bolt", common=component([gsid("spout", None)]).common), "the source"),
    ],
)
def test_a_shape_that_lacks_a_field_is_unusable(found: Any, lacks: str) -> None:
    """No plan may rest on a part of who takes what."""
    with pytest.raises(ReplyError, match=f"lacks {lacks}"):
        topology_shape(found)
