"""Which hosts are kept: the answer against all possible ones, and the bound that it states."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.leasing.by_load.host_packing import bound, packed
from scheduler.elasticity.leasing.by_load.host_program import HostChoice, solved
from scheduler.elasticity.leasing.by_load.host_set import best_host_set, late_cost
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import Need
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Host, Offer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import BoolArray, IntArray

SMALL, LARGE = Component("small", 100, cpu=1, memory_mb=2), Component("large", 100, cpu=2, memory_mb=3)
PARAMETERS = SizedParameters(
    components=(SMALL, LARGE), offer=Offer(4, 8, 600, unit_cost=1.0), penalty=0.001, move_cost=0.01
)


def choice_of(
    here: list[list[int]], may_go: list[bool], costs: list[list[float]], least: list[int]
) -> HostChoice:
    hosts = [
        Host(f"h{k}", 4, 8, 600, {each.name: n for each, n in zip((SMALL, LARGE), row, strict=True)})
        for k, row in enumerate(here)
    ]
    late = [np.array(each) for each in costs]
    return HostChoice(hosts, np.array(here), np.array(may_go), late, least, PARAMETERS)


def all_choices(choice: HostChoice) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield every placement of at most as many executors as there are, and every set of kept hosts."""
    n_hosts, n_components = choice.here.shape
    total = choice.here.sum(axis=0)
    for gone in product([False, True], repeat=n_hosts):
        stays = ~np.array(gone)
        if (~stays & ~choice.may_go).any():
            continue
        rows = [
            [row for row in product(*(range(n + 1) for n in total)) if fits(choice, k, row)]
            if stays[k]
            else [(0,) * n_components]
            for k in range(n_hosts)
        ]
        for placed in product(*rows):
            after = np.array(placed)
            if (after.sum(axis=0) <= total).all() and (after.sum(axis=0) >= choice.least).all():
                yield after, stays


def fits(choice: HostChoice, host: int, row: tuple[int, ...]) -> bool:
    return bool((np.array(row) @ choice.size <= choice.room[host]).all())


costs = st.lists(st.sampled_from([0.0, 0.2, 0.7, 1.5]), min_size=3, max_size=3).map(
    lambda steps: np.cumsum([0.0, *sorted(steps)])[::-1].tolist()
)
tables = st.tuples(costs, costs)
spread = st.permutations([0, 1, 2, 0, 1, 2]).map(lambda order: [order[:3], order[3:]])


@given(spread, st.tuples(*[st.booleans()] * 3), tables, st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_the_program_finds_the_least_and_the_bound_is_one(
    at: list[list[int]], may_go: tuple[bool, ...], late: tuple[list[float], ...], least: tuple[int, ...]
) -> None:
    """Three hosts, three executors of each of two components, and all that could be done with them."""
    here = [[sum(k == host for k in each) for each in at] for host in range(3)]
    choice = choice_of(here, list(may_go), list(late), list(least))
    optimum = min(choice.cost(*each) for each in all_choices(choice))
    found = solved(choice, 0.0)
    assert found is not None
    # a stop costs a little in the program only
    assert choice.cost(found.executors, found.stays) == pytest.approx(optimum, abs=0.001)
    assert optimum - 0.001 <= found.bound <= optimum + 1e-6
    assert bound(choice) <= optimum + 1e-9
    after, stays = packed(choice)
    assert choice.cost(after, stays) >= optimum - 1e-9
    assert all(fits(choice, k, tuple(row)) for k, row in enumerate(after.tolist()))
    assert not after[~stays].any()
    assert not (~stays & ~choice.may_go).any()
    assert (after.sum(axis=0) >= choice.least).all()


def test_what_items_cost_that_are_late() -> None:
    need = Need(demand_per_s=10.0, service_ms=400.0, executors=5, least=5, why="")
    all_late = 0.001 * 10.0 * 600.0
    assert [late_cost(n, need, PARAMETERS) for n in (0, 3, 4)] == [all_late] * 3
    assert late_cost(5, need, PARAMETERS) == 0.0, "busy for 80 % of their time"
    # 4 busy of 4.5: 89 %, four ninths of the way from 80 % to 100 %
    assert late_cost(9, Need(10.0, 800.0, 10, 9, ""), PARAMETERS) == pytest.approx(all_late * 4 / 9)


def test_a_host_is_given_back_that_is_not_worth_its_cost() -> None:
    hosts = [Host("old", 4, 8, 600, {"small": 1}), Host("young", 4, 8, 900, {"small": 1, "large": 1})]
    needs = {"small": Need(1.0, 100.0, 1, 1, ""), "large": Need(1.0, 100.0, 1, 1, "")}
    chosen = best_host_set(hosts, ["old"], needs, {}, PARAMETERS)
    assert chosen.released == ("old",)
    assert chosen.executors.tolist() == [[0, 0], [1, 1]], "one small executor is enough"
    assert (chosen.cost, chosen.kept_cost, chosen.bound) == (0.0, 1.0, 0.0)


def test_a_component_of_which_nothing_is_known_keeps_its_executors() -> None:
    hosts = [Host("old", 4, 8, 600, {"small": 1}), Host("young", 4, 8, 900, {"small": 1, "large": 1})]
    chosen = best_host_set(hosts, ["old"], {"large": Need(1.0, 100.0, 1, 1, "")}, {}, PARAMETERS)
    assert chosen.executors.tolist() == [[0, 0], [2, 1]]
    assert chosen.cost == pytest.approx(PARAMETERS.move_cost)


def test_a_host_that_is_needed_is_kept() -> None:
    hosts = [Host("old", 4, 8, 600, {"large": 2}), Host("young", 4, 8, 900, {"large": 2})]
    chosen = best_host_set(hosts, ["old"], {"large": Need(31.0, 100.0, 4, 4, "")}, {}, PARAMETERS)
    assert chosen.released == ()
    assert chosen.cost == chosen.kept_cost


def test_no_host_is_given_back_without_which_a_component_cannot_keep_up() -> None:
    """Though late items of a billing unit would cost less: the backlog stays."""
    hosts = [Host("old", 4, 8, 600, {"large": 1}), Host("young", 4, 8, 900, {"large": 2})]
    cheap = replace(PARAMETERS, penalty=1e-6)
    assert best_host_set(hosts, ["old"], {"large": Need(21.0, 100.0, 3, 3, "")}, {}, cheap).released == ()
    slack = best_host_set(hosts, ["old"], {"large": Need(19.0, 100.0, 3, 2, "")}, {}, cheap)
    assert slack.released == ("old",)
    elsewhere = best_host_set(hosts, ["old"], {"large": Need(21.0, 100.0, 3, 3, "")}, {"large": 1}, cheap)
    assert elsewhere.released == ("old",), "what boots will keep up"
