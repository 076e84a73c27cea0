from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from scheduler.exact.flows.elimination import Elimination, Eliminations, width


@pytest.mark.parametrize("seed", range(25))
def test_beside_all_choices(seed: int) -> None:
    """Of random graphs, some in parts: the least, a choice that has it, and the least with each choice."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 6))
    sizes = random.integers(1, 4, count).tolist()
    own = [random.uniform(0, 9, size) for size in sizes]
    own[0][0] = np.inf if sizes[0] > 1 else own[0][0]
    pairs = [
        ((i, j), random.uniform(0, 9, (sizes[i], sizes[j])))
        for i, j in combinations(range(count), 2)
        if random.random() < 0.6
    ]

    def cost(chosen: tuple[int, ...]) -> float:
        along = sum(float(table[chosen[i], chosen[j]]) for (i, j), table in pairs)
        return along + sum(float(values[k]) for values, k in zip(own, chosen, strict=True))

    costs = {chosen: cost(chosen) for chosen in product(*map(range, sizes))}
    found = Elimination(own, pairs)

    assert found.least == pytest.approx(min(costs.values()))
    chosen = found.choices()
    assert chosen is not None
    assert costs[tuple(chosen.tolist())] == pytest.approx(found.least)
    for i, values in enumerate(found.least_with()):
        expected = [min(c for chosen, c in costs.items() if chosen[i] == k) for k in range(sizes[i])]
        assert values == pytest.approx(expected)


def test_nothing_to_choose() -> None:
    found = Elimination([np.full(2, np.inf), np.zeros(1)], [((0, 1), np.zeros((2, 1)))])

    assert found.least == np.inf
    assert found.choices() is None


def test_width() -> None:
    assert width(3, [(0, 1), (1, 2)]) == 1
    assert width(4, [(0, 1), (0, 2), (1, 3), (2, 3)]) == 2
    assert width(1, []) == 0


def test_several_problems_at_once() -> None:
    """Each as by itself; one of them has no choices."""
    random = np.random.default_rng(1)
    own = [random.uniform(0, 9, (4, 3)) for _ in range(4)]
    own[2][1] = np.inf
    pairs = [(ends, random.uniform(0, 9, (4, 3, 3))) for ends in ((0, 1), (0, 2), (1, 3), (2, 3))]
    found = Eliminations(own, pairs)
    choices = found.choices()

    assert found.least[1] == np.inf
    for k in (0, 2, 3):
        alone = Elimination([each[k] for each in own], [(ends, table[k]) for ends, table in pairs])
        assert found.least[k] == pytest.approx(alone.least)
        assert np.array_equal(choices[k], alone.choices())
