"""Of several placements the one that a user prefers: on favored hosts, in as many workers as asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.round.small.more_workers import offer_of
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.small.search import Answer, Search
    from scheduler.base.arrays import BoolArray


def ask_as_preferred(
    search: Search,
    task: Task,
    fixed: Sequence[int | None],
    closed: BoolArray | None = None,
    *,
    overload: float = 0.0,
) -> Answer:
    """Ask for a placement; of those that are found take the one that the topology's user prefers.

    Favored hosts are taken where the objective is not worse. Where hosts are more than the workers asked for,
    those that hold most executors have to do if they can; where workers are fewer, hosts with more slots.

    Args:
        search: Asks strategies.
        task: The topology.
        fixed: Per executor the host that it must keep, None if it is free.
        closed: (n_hosts,) hosts to which no executor may come, None if there are none.
        overload: Part of a host's capacity by which it may be exceeded where it is no hard limit.
    """
    answer = search.ask(task, fixed, closed, overload)
    if answer.placement is None:
        return answer
    answer = _on_favored(search, task, fixed, answer, closed=closed, overload=overload)
    asked = task.workers.asked
    if asked < 2 or answer.placement is None:
        return answer
    if len(set(answer.placement)) > asked:
        shut = _without(closed, _fullest(answer.placement, fixed, asked, len(task.favored)))
        for each in (task, *_loosened(task)):
            fewer = search.ask(each, fixed, shut, overload)
            if fewer.placement is not None:
                answer = fewer
                break
    source = answer
    if answer.workers < asked:
        exact = search.ask(replace(task, workers=task.workers.exact), fixed, closed, overload)
        source = exact if exact.placement is not None else answer
        answer = _closer(answer, exact, asked)
    # Heap and rules may need more workers than are asked for.
    if answer.workers < asked or (answer.workers > asked >= task.workers.loose.share.sum()):
        answer = _dealt(search, task, fixed, answer, source, closed=closed, overload=overload)
    return answer


def by_wishes(task: Task) -> list[tuple[Task, str]]:
    """Return the topology with ever fewer wishes, and what the status line adds then.

    As many workers as are asked for are given up first, then hosts that are not to be used, then hosts that
    may be at a site that is avoided, then its budget of cost and its limits on durations.

    Args:
        task: The topology.
    """
    loose = task.loose
    tasks = [(loose, "")] if task.workers.asked == 1 else [(task, ""), (loose, "")]
    if task.unfavored.any():
        tasks = [
            *((replace(each, permits=each.permits.closed_to(task.unfavored)), how) for each, how in tasks),
            (loose, f", some on {_unfavored(task)} as no others have room"),
        ]
    if task.permits.doubtful.any():
        widened = replace(loose, permits=task.permits.widened)
        tasks.append((widened, ", some on hosts without a reading as no others have room"))
    if not task.bounds:
        return tasks
    above = f", above {' and '.join(task.bounds)} as none was found within"
    if not task.bounded:
        return [(each, how + above) for each, how in tasks]
    last, how = tasks[-1]
    return [*tasks, (replace(last, bounded=False), how + above)]


def _unfavored(task: Task) -> str:
    return "hosts that are to be drained or unfavored" if task.wishes.leaving else "unfavored hosts"


def heap_overloads(state: RoundState, task: Task, placement: Sequence[int]) -> list[str]:
    """Name the hosts that have too few slots for the heap of a topology's executors, one phrase each.

    Args:
        state: The cluster so far.
        task: The topology.
        placement: Host index per executor.
    """
    if not task.workers.loose.share.any():
        return []
    needed = np.bincount(placement, weights=task.workers.loose.share, minlength=len(state.hosts.hosts))
    slots = state.slots_for(task.index)
    return [
        f"{state.hosts.hosts[host].name} at {needed[host] / slots[host]:.0%} of its workers' heap"
        for host in sorted(set(placement))
        if needed[host] > slots[host] > 0
    ]


def _dealt(
    search: Search,
    task: Task,
    fixed: Sequence[int | None],
    answer: Answer,
    source: Answer,
    *,
    closed: BoolArray | None,
    overload: float,
) -> Answer:
    """Return an answer whose number of workers is nearer to the one asked for, else the given one.

    Each host gets just as many executors as make up that number, first of all those of a source.
    """
    asked, best = task.workers.asked, answer
    for each in _loosened(task):
        frame = search.pose(each, fixed, closed, overload).frame
        offer = offer_of(search.state, each, frame, fixed)
        quotas = offer.quotas(source.placement or ())
        if quotas is not None and abs(asked - offer.total) < abs(asked - best.workers):
            dealt = search.ask(replace(each, most=quotas), fixed, closed, overload)
            best = _closer(best, dealt, asked)
    return best


def _closer(answer: Answer, other: Answer, asked: int) -> Answer:
    """Return another answer if its number of workers is nearer to the one asked for, else the first one."""
    nearer = other.placement is not None and abs(asked - other.workers) < abs(asked - answer.workers)
    # With more workers than were asked for an answer is no better than with fewer.
    return other if nearer and (other.workers <= asked or answer.workers > asked) else answer


def _loosened(task: Task) -> tuple[Task, Task]:
    """Return the topology where even workers do not matter, and where the fair share does not either.

    The number of executors that is fair for a host is no reason for another number of workers.
    """
    even = -(-task.topology.n_executors // task.workers.asked)
    return task.loose, replace(task.loose, least=even)


def _on_favored(
    search: Search,
    task: Task,
    fixed: Sequence[int | None],
    answer: Answer,
    *,
    closed: BoolArray | None,
    overload: float,
) -> Answer:
    """Return an answer on favored hosts only if it is not worse, else the given one."""
    if not task.favored.any() or answer.result.evaluation is None:
        return answer
    other = search.ask(task, fixed, _without(closed, task.favored), overload)
    if other.placement is None:
        return answer
    # Worths of two problems with different nodes have different scales.
    question = search.pose(task, fixed, closed, overload)
    worth = evaluate(question.problem, question.frame.nodes_of(other.placement))
    worse = worth.objective > answer.result.evaluation.objective + OBJECTIVE_STEP
    return answer if worse else other


def _without(closed: BoolArray | None, some: BoolArray) -> BoolArray:
    """(n_hosts,) close all hosts but some, beside those that are closed."""
    return np.asarray(~some if closed is None else closed | ~some, dtype=np.bool_)


def _fullest(placement: Sequence[int], fixed: Sequence[int | None], most: int, n_hosts: int) -> BoolArray:
    """(n_hosts,) hosts that hold most executors, before them those where executors have to stay."""
    held = {host for host in fixed if host is not None}
    count = Counter(placement)
    chosen = sorted(count, key=lambda host: (host not in held, -count[host], host))[:most]
    mask = np.zeros(n_hosts, dtype=np.bool_)
    mask[chosen] = True
    return mask
