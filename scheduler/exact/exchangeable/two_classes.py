"""Exact search where at most two classes of operators are free: place one, and the other follows.

Layered applications whose ends are pinned have this shape, however many replicas their layers have: with
the members of one class placed, every place of the other class has a cost of its own, and its members
take the cheapest slots. So a branch and bound over the smaller class alone is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.base.work import Work
from scheduler.exact.exchangeable.leader_multipliers import Multipliers, find_multipliers
from scheduler.exact.exchangeable.leader_search import LeaderSearch
from scheduler.exact.exchangeable.leader_tables import leader_tables

if TYPE_CHECKING:
    from scheduler.contract.incumbent import Incumbent
    from scheduler.exact.form.class_form import ClassForm

LARGEST_TABLE = 20_000_000
"""Floats in the table of optimistic costs; larger problems are left to others."""
TRIAL = 300_000
"""Work, in partial placements times nodes, before multipliers are worth their own work."""
MULTIPLIER_SHARE = 0.5
"""Of the work that is left goes into multipliers at most."""


def search_two_classes(form: ClassForm, incumbent: Incumbent, work: Work) -> bool:
    """Prove the incumbent optimal or find better ones; return whether a proof was completed.

    False means that the problem has another shape, or that the search was ended; the incumbent and its
    bound keep what was found.

    Complexity: exponential in the members of the smaller free class; a step costs O(n_nodes^2) at most.

    Args:
        form: The problem.
        incumbent: Gets what is found.
        work: When to stop.
    """
    free = [c for c in range(form.n_classes) if (form.slots[c] > 0).sum() > 1]
    fixed = [c for c in range(form.n_classes) if c not in free]
    of_one_graph = form.graphs.count == 1 or form.response_factor == 0
    if not of_one_graph or not 1 <= len(free) <= 2 or any(form.slots[c].max() < form.size[c] for c in fixed):
        return False
    follower, *rest = sorted(free, key=lambda c: (-form.size[c], c))
    leader = rest[0] if rest else None
    if form.n_nodes**2 * (form.size[leader] + 1 if rest else 1) > LARGEST_TABLE:
        return False
    tables = leader_tables(form, fixed, leader, follower)
    trial = Work(work.deadline, min(TRIAL, work.most - work.done))
    proved = LeaderSearch(tables, form, incumbent, Multipliers.none(form.n_nodes)).run(trial)
    work.add(trial.done)
    if proved or work.over() or incumbent.placement is None:
        return proved
    part = Work(work.deadline, (work.most - work.done) * MULTIPLIER_SHARE)
    multipliers = find_multipliers(tables, incumbent.objective, part)
    work.add(part.done)
    return LeaderSearch(tables, form, incumbent, multipliers).run(work)
