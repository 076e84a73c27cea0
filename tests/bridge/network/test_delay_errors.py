from __future__ import annotations

import math

import numpy as np
import pytest

from bridge.network.delay_errors import estimate_errors
from bridge.network.links import NO_LINKS, Links

N = 12
NAMES = tuple(f"h{index}" for index in range(N))


def links_of(delay_ms):
    """Every pair is measured from both ends."""
    source, target = np.nonzero(~np.eye(N, dtype=np.bool_))
    count = len(source)
    nothing = np.full(count, math.nan)
    return Links(source, target, delay_ms[source, target], np.ones(count), nothing, 60.0, NAMES)


def measured(spread, seed=1):
    """Delays of 50 ms, each direction with its own error."""
    random = np.random.default_rng(seed)
    return links_of(50.0 * (1.0 + spread * random.standard_normal((N, N))))


def test_the_error_of_links_is_that_of_both_directions():
    assert estimate_errors(np.full((N, N), math.nan), measured(0.04), None).of_links == pytest.approx(
        0.04, rel=0.25
    )


def test_a_few_pairs_on_another_path_say_nothing_of_all():
    """A pair whose directions are far apart is a fault of its own."""
    links = measured(0.04)
    odd = links.delay_ms.copy()
    odd[:5] *= 4.0
    changed = Links(links.source, links.target, odd, links.age_s, links.link_availability, 60.0, NAMES)
    errors = (estimate_errors(np.full((N, N), math.nan), each, None).of_links for each in (links, changed))
    assert next(errors) == pytest.approx(next(errors), rel=0.3)


def test_the_error_of_coordinates_is_that_beside_links():
    """Coordinates that are 10 % off, whatever hosts think of them."""
    random = np.random.default_rng(2)
    levelled = 50.0 * (1.0 + 0.1 * random.standard_normal((N, N)))
    assert estimate_errors(levelled, measured(0.001), 0.5).of_others == pytest.approx(0.1, rel=0.25)


def test_without_links_hosts_estimate_their_own_error():
    levelled = np.full((N, N), 50.0)
    errors = estimate_errors(levelled, NO_LINKS, 0.3)
    assert (errors.of_links, errors.of_others) == (0.0, 0.3)
    assert estimate_errors(levelled, NO_LINKS, None).of_others == 0.0
