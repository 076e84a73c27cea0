"""Exchangeable operators: an automorphism of the application graph interchanges any two of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import IntArray, ints

if TYPE_CHECKING:
    from scheduler.evaluation.linear_form import LinearForm
    from scheduler.model.problem import Problem


def exchangeable_classes(problem: Problem, form: LinearForm) -> tuple[IntArray, ...]:
    """Return the operators in classes whose members may swap places without changing F or feasibility.

    Two operators are exchangeable when everything about them that F and the constraints see is equal, and
    so are their streams from and to every third operator. Swapping two such operators is an automorphism, and
    as swaps generate all permutations, only the number of members per node matters. Members that are
    joined by a stream of their own stay apart: their number per node would not decide the stream's cost.

    Complexity: O(n_ops^2) plus O(n_ops) per compared pair with equal signature.

    Args:
        problem: The problem.
        form: Its linear form; streams that add nothing to F join no operators.

    Returns:
        Ascending indices per class, classes by their first member.
    """
    if problem.rules:  # they may treat any two operators differently
        return tuple(ints([i]) for i in range(problem.n_ops))
    links = _links(problem, form)
    on_paths = form.response_factor > 0
    own = np.hstack([form.unary, problem.execution_ms * on_paths])
    own = np.hstack([own, problem.demand, problem.allowed])
    # the longest path of one graph is not that of another
    own = np.column_stack([own, problem.application.graphs.member * on_paths])
    groups: dict[tuple[bytes, bytes, bytes], list[list[int]]] = {}
    for i in range(problem.n_ops):
        signature = (own[i].tobytes(), np.sort(links[i]).tobytes(), np.sort(links[:, i]).tobytes())
        classes = groups.setdefault(signature, [])
        home = next((each for each in classes if _twins(links, each[0], i)), None)
        if home is None:
            classes.append([i])
        else:
            home.append(i)
    found = [members for classes in groups.values() for members in classes]
    return tuple(ints(members) for members in sorted(found))


def _links(problem: Problem, form: LinearForm) -> IntArray:
    """Return (n_ops, n_ops) a code of the streams from one operator to another, 0 for none that F sees."""
    application = problem.application
    bundles: dict[tuple[int, int], list[tuple[float, ...]]] = {}
    for s, (i, j) in enumerate(application.edges()):
        weights = tuple(float(term.weight[s]) for term in form.pairs)
        critical = float(application.critical[s] and form.response_factor > 0)
        if i != j and (critical or any(weights)):
            bundles.setdefault((i, j), []).append((critical, *weights))
    codes: dict[tuple[tuple[float, ...], ...], int] = {}
    links = np.zeros((problem.n_ops, problem.n_ops), dtype=np.int64)
    for ends, bundle in bundles.items():
        links[ends] = codes.setdefault(tuple(sorted(bundle)), len(codes) + 1)
    return links


def _twins(links: IntArray, i: int, j: int) -> bool:
    """Return whether two operators, not joined themselves, have the same streams with all others."""
    if links[i, j] or links[j, i]:
        return False
    return bool((links[i] == links[j]).all() and (links[:, i] == links[:, j]).all())
