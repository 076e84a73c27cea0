"""Ends of a topology outside Storm, such as a broker or a store: fixed at a site, without any load."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from scheduler.model.problem import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.executor_graph import ExecutorGraph
    from bridge.problem.topology_settings import TopologySettings
    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Terminal:
    """An end outside Storm.

    Attributes:
        name: Of its operator.
        role: Whether tuples come from it or go to it.
        site: Where it is.
        streams: Those between it and the executors of its component.
    """

    name: str
    role: Literal["source", "sink"]
    site: str
    streams: tuple[Stream, ...]


def terminals_of(
    settings: TopologySettings, component: Sequence[str], graph: ExecutorGraph, tuple_bytes: float
) -> tuple[Terminal, ...]:
    """Return the ends of a topology outside Storm.

    An executor takes in from outside what it emits, which is what it sends to the component that it sends
    most to, and it sends outside what it takes, unless a rate is declared.

    Args:
        settings: Where these ends are, declared rates, and what streams pay the cost of links by.
        component: Name of the component of each executor.
        graph: Executors and their streams.
        tuple_bytes: Size of tuples where no stream of a component says it.
    """
    if not settings.origin and not settings.destination:
        return ()
    flows = _Flows(component, graph, tuple_bytes)
    found = []
    for name, place in settings.origin.items():
        members, rate, size = flows.emitted_by(name)
        title = f"origin of {name}"
        weight = _weights(settings, rate, size)
        streams = tuple(
            Stream(title, graph.names[i], rate=r, tuple_bytes=size, link_weight=w)
            for i, r, w in zip(members.tolist(), rate.tolist(), weight.tolist(), strict=True)
        )
        found.append(Terminal(title, "source", place.name, streams))
    for name, place in settings.destination.items():
        members, rate, size = flows.taken_by(name)
        if name in settings.rates:
            rate = settings.rates[name] * _shares(rate)
        title = f"destination of {name}"
        weight = _weights(settings, rate, size)
        streams = tuple(
            Stream(graph.names[i], title, rate=r, tuple_bytes=size, link_weight=w)
            for i, r, w in zip(members.tolist(), rate.tolist(), weight.tolist(), strict=True)
        )
        found.append(Terminal(title, "sink", place.name, streams))
    return tuple(found)


class _Flows:
    """The critical streams of a topology as arrays, (n_streams,) each."""

    def __init__(self, component: Sequence[str], graph: ExecutorGraph, tuple_bytes: float) -> None:
        self._component = np.array(component)
        self._tuple_bytes = tuple_bytes
        self._streams = [each for each in graph.streams if each.critical]
        self._position = {name: k for k, name in enumerate(graph.names)}

    @cached_property
    def _source(self) -> IntArray:
        return np.array([self._position[each.source] for each in self._streams], dtype=np.int64)

    @cached_property
    def _target(self) -> IntArray:
        return np.array([self._position[each.target] for each in self._streams], dtype=np.int64)

    @cached_property
    def _rate(self) -> FloatArray:
        return np.array([each.rate for each in self._streams], dtype=np.float64)

    def emitted_by(self, name: str) -> tuple[IntArray, FloatArray, float]:
        """Return the executors of a component, tuples per second that each emits, and their size."""
        mine = self._component[self._source] == name
        targets = self._component[self._target]
        per_target = [self._sums(self._source, mine & (targets == each)) for each in np.unique(targets[mine])]
        return self._of(name, np.max(per_target, axis=0, initial=0.0), mine)

    def taken_by(self, name: str) -> tuple[IntArray, FloatArray, float]:
        """Return the executors of a component, tuples per second that each takes, and their size."""
        mine = self._component[self._target] == name
        return self._of(name, self._sums(self._target, mine), mine)

    def _sums(self, end: IntArray, chosen: np.ndarray) -> FloatArray:
        sums = np.bincount(end[chosen], self._rate[chosen], minlength=len(self._component))
        return np.asarray(sums, dtype=np.float64)

    def _of(self, name: str, rate: FloatArray, mine: np.ndarray) -> tuple[IntArray, FloatArray, float]:
        members = np.flatnonzero(self._component == name)
        sizes = np.array([each.tuple_bytes for each in self._streams], dtype=np.float64)[mine]
        sent = self._rate[mine]
        size = float(sent @ sizes / sent.sum()) if sent.sum() > 0 else self._tuple_bytes
        every = np.broadcast_to(rate, len(self._component))
        return members, every[members], size


def _shares(rate: FloatArray) -> FloatArray:
    """Return the share of each executor in the sum, alike where there is none."""
    total = rate.sum()
    return rate / total if total > 0 else np.full(len(rate), 1.0 / len(rate))


def _weights(settings: TopologySettings, rate: FloatArray, size: float) -> FloatArray:
    match settings.link_cost_basis:
        case "stream":
            return _shares(rate)
        case "flow":
            return np.ones(len(rate))
        case "traffic":
            return rate * size
