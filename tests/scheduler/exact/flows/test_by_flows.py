from __future__ import annotations

import numpy as np
import pytest

from scheduler.exact.flows.by_flows import best_by_flows
from scheduler.exact.flows.closing import close
from scheduler.exact.flows.covers import cover
from scheduler.exact.flows.flow_form import FlowForm, flow_form
from scheduler.exact.flows.priced import Priced
from scheduler.exact.flows.searching import search
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.problem import Problem
from tests.scheduler.exact.flows.linked_problems import all_placements, context, linked

SEEDS = range(24)


def form_of(problem: Problem) -> FlowForm:
    """A problem that flows state in full."""
    form = flow_form(problem)
    assert form is not None
    return form


@pytest.mark.parametrize("all_pairs", [False, True], ids=["links", "pairs"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_of_all_placements(seed: int, *, all_pairs: bool) -> None:
    """Or the proof that there is none; every third problem has narrow links."""
    problem = linked(seed, tight=0.6 if seed % 3 else 1.0)
    costs = [cost for cost, _ in all_placements(problem)]
    form = form_of(problem)
    found = best_by_flows(form, context(), all_pairs=all_pairs)

    assert found.proved
    if not costs:
        assert found.at is None
        return
    assert found.at is not None
    assert form.value(found.at) == pytest.approx(min(costs))
    assert found.bound == pytest.approx(min(costs), rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_value_of_a_form_is_f(seed: int) -> None:
    problem = linked(seed)
    form = form_of(problem)

    for cost, placement in all_placements(problem)[:20]:
        at = placement[[int(members[0]) for members in form.members]]
        assert form.value(at) == pytest.approx(cost)
        assert form.fits(at)
        assert np.array_equal(form.placement(at), placement)


@pytest.mark.parametrize("seed", SEEDS)
def test_prices_bound_every_placement_and_each_place(seed: int) -> None:
    """At no prices and at some; places that are closed are in nothing better than what is known."""
    problem = linked(seed)
    placements = all_placements(problem)
    form = form_of(problem)
    priced = Priced(form)
    random = np.random.default_rng(seed)
    shares = random.uniform(0, 5, form.capacity.shape), random.uniform(0, 5, len(form.bandwidth))
    for point in (priced.point_without_prices(), priced.point(*shares)):
        least = priced.least_on_nodes(point)
        for cost, placement in placements:
            at = placement[[int(members[0]) for members in form.members]]
            assert point.bound <= cost + 1e-9
            assert (least[np.arange(form.n_blocks), at] <= cost + 1e-9).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_better_is_closed(seed: int) -> None:
    problem = linked(seed)
    placements = sorted(all_placements(problem), key=lambda each: each[0])
    if not placements:
        return
    form = form_of(problem)
    worst = placements[-1][1]
    start = worst[[int(members[0]) for members in form.members]]
    closed = close(form, start, context().deadline)
    best_cost, best = placements[0]

    assert closed.bound <= best_cost + 1e-9
    if closed.best is None or form.value(closed.best) > best_cost + 1e-6:
        at = best[[int(members[0]) for members in form.members]]
        assert closed.form.allowed[np.arange(form.n_blocks), at].all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cover_cuts_off_what_overfills_and_nothing_that_fits(seed: int) -> None:
    problem = linked(seed, tight=0.6)
    form = form_of(problem)
    random = np.random.default_rng(seed)
    fitting = [
        placement[[int(members[0]) for members in form.members]] for _, placement in all_placements(problem)
    ]
    for _ in range(10):
        at = np.array([int(random.choice(np.flatnonzero(row))) for row in form.allowed])
        for link in form.overfull(at).tolist():
            cut = cover(form, at, link)

            def taken(where: np.ndarray, terms: np.ndarray = cut.terms) -> int:
                return int((where[terms[:, 0]] == terms[:, 1]).sum())

            assert taken(at) > cut.most
            assert all(taken(each) <= cut.most for each in fitting)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_search_keeps_to_everything_and_its_bound_holds(seed: int) -> None:
    problem = linked(seed)
    form = form_of(problem)
    if form.limits:
        return
    costs = [cost for cost, _ in all_placements(problem)]
    found = search(form, context(seed), lambda _at, _bound: None)

    if found.at is not None:
        assert form.fits(found.at)
        assert min(costs) - 1e-9 <= form.value(found.at) <= 1.02 * min(costs)
    if costs:
        assert found.at is not None
        assert found.bound <= min(costs) + 1e-9


def test_pairs_of_nodes_that_are_limited_by_themselves() -> None:
    problem = linked(1)
    pairs = (LinkBandwidth("pair"), *problem.constraints[1:])
    problem = Problem(problem.application, problem.network, problem.objective, constraints=pairs)
    found = best_by_flows(form_of(problem), context())

    assert found.proved
    assert found.at is not None
    assert form_of(problem).value(found.at) == pytest.approx(min(cost for cost, _ in all_placements(problem)))
