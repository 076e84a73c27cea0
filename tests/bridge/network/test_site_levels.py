"""Fresh links between two sites correct what coordinates and old links say of the other pairs of hosts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.network.links import NO_LINKS, Links
from bridge.network.site_levels import level_by_sites

NAN = float("nan")
SITE = np.array([0, 0, 0, 1, 1, 1])  # hosts 0 to 2 at one site, 3 to 5 at another


def links(*measured):
    """Links as (source, target, delay in ms, age in s); 120 s is the lifetime."""
    source, target, delay, age = (np.array(column) for column in zip(*measured, strict=True))
    names = tuple(f"host-{index}" for index in range(len(SITE)))
    nothing = np.full(len(measured), NAN)
    return Links(source, target, delay.astype(float), age.astype(float), nothing, 120.0, names)


def flat(between, within=0.25):
    """Delays by coordinates that know nothing but two sites."""
    delay = np.where(SITE[:, None] == SITE, within, between)
    np.fill_diagonal(delay, 0.0)
    return delay


def as_dict(pairs):
    return {
        (low, high): pytest.approx(value)
        for low, high, value in zip(
            pairs.low.tolist(), pairs.high.tolist(), pairs.value.tolist(), strict=True
        )
    }


def test_old_links_that_are_faster_than_fresh_ones_are_outdated():
    """A path from 22 to 66 ms: three links in use show it, two that were probed half a minute ago do not."""
    measured = links((0, 3, 66, 1), (4, 0, 66, 3), (1, 3, 66, 2), (1, 4, 22, 30), (2, 5, 22, 50))
    levelled = level_by_sites(flat(22.0), measured, SITE, 2)
    assert set(as_dict(levelled.direct)) == {(0, 3), (0, 4), (1, 3)}
    assert as_dict(levelled.outdated) == {(1, 4): 66.0, (2, 5): 66.0}
    # and so is what coordinates say of pairs that no one measures, which may never learn it
    assert levelled.coordinate_ms[2, 3] == levelled.coordinate_ms[3, 2] == pytest.approx(66.0)


def test_a_path_that_became_shorter_leaves_old_links_alone():
    """To avoid a fast path for some more seconds costs little; fresh ones are believed at once."""
    measured = links((0, 3, 22, 1), (0, 4, 22, 3), (1, 3, 22, 2), (1, 4, 66, 30), (2, 5, 66, 50))
    levelled = level_by_sites(flat(66.0), measured, SITE, 2)
    assert not levelled.outdated.value.size
    assert as_dict(levelled.direct)[(2, 5)] == 66.0
    assert levelled.coordinate_ms[2, 3] == pytest.approx(22.0)


def test_hosts_keep_the_differences_that_their_coordinates_know():
    """Host 2 is 40 ms further away than its neighbours: it is neither an exception nor pulled down."""
    embedded = flat(20.0)
    embedded[2, 3:] = embedded[3:, 2] = 60.0
    measured = links((0, 3, 25, 1), (0, 4, 25, 1), (1, 5, 25, 1), (2, 3, 65, 40))
    levelled = level_by_sites(embedded, measured, SITE, 2)
    assert not levelled.outdated.value.size
    assert levelled.coordinate_ms[2, 4] == pytest.approx(65.0)
    assert levelled.coordinate_ms[1, 3] == pytest.approx(25.0)


def test_a_corrected_coordinate_is_not_below_the_fastest_link():
    """Coordinates are off by 30 ms in most pairs and by nothing in one: the rest is not negative."""
    embedded = flat(40.0)
    embedded[2, 5] = embedded[5, 2] = 12.0
    levelled = level_by_sites(embedded, links((0, 3, 10, 1), (0, 4, 10, 1), (1, 3, 10, 1)), SITE, 2)
    assert levelled.coordinate_ms[2, 5] == 10.0


def test_corrections_do_not_lift_what_is_fast_above_its_own_coordinate():
    """The line of host 0 is slow and the only one that is measured; its neighbours are fast as before."""
    embedded = flat(22.0)
    embedded[0, 3:] = embedded[3:, 0] = 62.0
    levelled = level_by_sites(embedded, links((0, 3, 62, 1), (0, 4, 62, 1), (0, 5, 62, 1)), SITE, 2)
    assert levelled.coordinate_ms.tolist() == embedded.tolist()


def test_a_link_as_young_as_the_others_is_believed():
    """Host 2 has a line of its own: its link is as fresh as those at the level."""
    measured = links((0, 3, 66, 3), (0, 4, 66, 3), (1, 3, 66, 3), (1, 4, 66, 3), (2, 5, 10, 4), (2, 3, 10, 9))
    levelled = level_by_sites(flat(66.0), measured, SITE, 2)
    assert as_dict(levelled.outdated) == {(2, 3): 66.0}
    assert as_dict(levelled.direct)[(2, 5)] == 10.0


def test_a_slow_host_is_no_slow_path():
    """All young links that are slow have host 0 in common; others of its site were fast half a minute ago."""
    measured = links(
        (0, 3, 66, 1), (0, 4, 66, 1), (0, 5, 66, 1), (1, 3, 22, 30), (1, 4, 22, 30), (2, 5, 22, 30)
    )
    levelled = level_by_sites(flat(22.0), measured, SITE, 2)
    assert not levelled.outdated.value.size
    assert levelled.coordinate_ms.tolist() == flat(22.0).tolist()


def test_one_young_link_does_not_outvote_many():
    """It may be an exception."""
    others = [(one, other, 22, 40) for one in range(3) for other in range(3, 6) if (one, other) != (0, 3)]
    levelled = level_by_sites(flat(22.0), links((0, 3, 66, 0), *others), SITE, 2)
    assert not levelled.outdated.value.size
    assert levelled.coordinate_ms.tolist() == flat(22.0).tolist()


def test_links_within_a_site_are_believed():
    """A site may be a region: its hosts need not be near each other."""
    site = np.zeros(6, dtype=np.int64)
    measured = links((0, 3, 66, 1), (0, 4, 66, 3), (1, 3, 66, 2), (1, 4, 22, 30), (2, 5, 22, 50))
    assert not level_by_sites(np.full((6, 6), NAN), measured, site, 1).outdated.value.size


def test_of_two_directions_the_fresher_counts():
    """One link per pair: both directions of a pair in use are not two witnesses."""
    measured = links((0, 3, 66, 1), (3, 0, 66, 2), (1, 4, 66, 1), (4, 1, 22, 40), (2, 5, 22, 50))
    levelled = level_by_sites(flat(22.0), measured, SITE, 2)
    assert as_dict(levelled.outdated) == {(2, 5): 66.0}
    only_two = links((0, 3, 66, 1), (3, 0, 66, 2), (1, 4, 66, 1), (4, 1, 66, 1))
    assert level_by_sites(flat(22.0), only_two, SITE, 2).coordinate_ms.tolist() == flat(22.0).tolist()


def test_without_coordinates_the_level_of_the_links_shows_which_are_outdated():
    """Hosts that just started have none."""
    measured = links((0, 3, 66, 1), (0, 4, 66, 3), (1, 3, 67, 2), (2, 5, 22, 50))
    levelled = level_by_sites(np.full((6, 6), NAN), measured, SITE, 2)
    assert as_dict(levelled.outdated) == {(2, 5): 66.0}
    assert np.isnan(levelled.coordinate_ms).all()


def test_where_few_hosts_with_links_have_a_coordinate_the_links_alone_count():
    """Hosts 2 and 5 have one: what it says is clearly faster than all fresh links."""
    embedded = np.full((6, 6), NAN)
    embedded[2, 5] = embedded[5, 2] = 30.0
    measured = links((0, 3, 66, 1), (0, 4, 66, 3), (1, 3, 66, 2))
    assert level_by_sites(embedded, measured, SITE, 2).coordinate_ms[2, 5] == 66.0
    embedded[2, 5] = embedded[5, 2] = 55.0
    assert level_by_sites(embedded, measured, SITE, 2).coordinate_ms[2, 5] == 55.0


def test_however_old_all_links_are_they_count():
    """Weights of 2^-60 and less; each pair of sites has its own values."""
    site = np.array([0, 0, 1, 1, 2, 2])
    young = [(0, 2, 1, 0), (0, 3, 1, 0), (1, 2, 1, 0)]
    measured = links(*young, (0, 4, 90, 119), (0, 5, 90, 119), (1, 4, 90, 119))
    levelled = level_by_sites(np.full((6, 6), 1.0), measured, site, 3)
    assert levelled.coordinate_ms[1, 5] == 90.0
    assert levelled.coordinate_ms[1, 3] == 1.0


def test_two_links_are_no_level():
    """They may be exceptions."""
    measured = links((0, 3, 66, 1), (1, 4, 66, 1), (2, 5, 22, 130))  # the third one is too old to count
    levelled = level_by_sites(flat(22.0), measured, SITE, 2)
    assert levelled.coordinate_ms.tolist() == flat(22.0).tolist()
    assert not levelled.outdated.value.size


@pytest.mark.parametrize(("site", "n_sites"), [([0, 0, 0, 1, 1, 1], 1), ([0, 0, 0, 0, 0, 0], 0)])
def test_hosts_of_unknown_site_have_no_level(site, n_sites):
    """The last index stands for no site; so does any if there are no sites."""
    measured = links((0, 3, 66, 1), (0, 4, 66, 3), (1, 3, 67, 2), (2, 5, 22, 50))
    levelled = level_by_sites(flat(22.0), measured, np.array(site), n_sites)
    assert levelled.coordinate_ms.tolist() == flat(22.0).tolist()
    assert not levelled.outdated.value.size


def test_without_links_coordinates_stay():
    """There is no evidence of a level."""
    levelled = level_by_sites(flat(22.0), NO_LINKS, SITE, 2)
    assert levelled.coordinate_ms.tolist() == flat(22.0).tolist()
    assert not levelled.direct.value.size


@given(
    measured=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0.1, 500), st.floats(0, 200)).filter(
            lambda link: link[0] != link[1]
        ),
        min_size=1,
        max_size=40,
        unique_by=lambda link: link[:2],
    )
)
def test_every_fresh_pair_is_direct_or_outdated_and_nothing_gets_faster_than_its_link(measured):
    """Outdated ones are expected to be slower; coordinates stay symmetric and finite."""
    gathered = links(*measured)
    levelled = level_by_sites(flat(22.0), gathered, SITE, 2)
    before, direct, late = (as_dict(pairs) for pairs in (gathered.delays, levelled.direct, levelled.outdated))
    assert set(direct) | set(late) == set(before)
    assert not set(direct) & set(late)
    assert all(late[pair].expected > before[pair].expected for pair in late)
    assert np.isfinite(levelled.coordinate_ms).all()
    assert (levelled.coordinate_ms == levelled.coordinate_ms.T).all()
