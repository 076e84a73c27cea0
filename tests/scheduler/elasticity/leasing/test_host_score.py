"""Algorithm 2: balanced hosts first, and those with the image before all."""

from __future__ import annotations

import pytest

from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Host
from scheduler.elasticity.leasing.host_score import NO_ROOM, host_score
from tests.scheduler.elasticity.leasing.example import COMPONENTS, A, F, host

H0 = host("h0", 600, {"A": 1, "F": 1, "R": 1})
H1 = host("h1", 900, {"A": 1}, images="A")


@pytest.mark.parametrize(
    ("where", "component", "score"),
    [
        (H0, A, 0.0000160),
        (H1, A, 0.0013856),
        (H0.with_one_more("A"), F, 0.0011070),
        (H1, F, 0.0012380),
    ],
    ids=["1a h0", "1a h1", "1b h0", "1b h1 without the image"],
)
def test_paper_003_worked_example_step_1(where: Host, component: Component, score: float) -> None:
    """Scores are printed with seven digits after the point."""
    assert host_score(where, component, COMPONENTS, 0.01) == pytest.approx(score, abs=6e-8)


def test_paper_003_worked_example_step_2_both_hosts_are_full() -> None:
    h0 = host("h0", 600, {"A": 2, "F": 2, "R": 1})
    h1 = host("h1", 900, {"A": 2, "F": 1, "R": 2})
    assert (h0.free_cpu(COMPONENTS), h0.free_memory_mb(COMPONENTS)) == (419, 156)
    assert (h1.free_cpu(COMPONENTS), h1.free_memory_mb(COMPONENTS)) == (503, 228)
    assert [host_score(each, F, COMPONENTS, 0.01) for each in (h0, h1)] == [NO_ROOM, NO_ROOM]


def test_a_component_that_just_fits_has_room() -> None:
    """Also if the sum of guarantees is more by rounding only."""
    small = Component("S", 1.0, 0.1, 0.1)
    full = Host("h", 0.3, 0.3, 600.0, {"S": 2})
    assert full.free_cpu({"S": small}) < 0.1
    assert host_score(full, small, {"S": small}, 0.01) >= 0.0


def test_a_perfectly_balanced_host_scores_zero() -> None:
    even = Component("E", 1.0, 10.0, 10.0)
    assert host_score(Host("h", 100.0, 100.0, 600.0), even, {"E": even}, 0.01) == 0.0


def test_the_emptier_of_two_alike_is_better() -> None:
    lopsided = Component("L", 1.0, 10.0, 20.0)
    empty, used = Host("a", 100.0, 100.0, 1.0), Host("b", 100.0, 100.0, 1.0, {"E": 4})
    components = {"L": lopsided, "E": Component("E", 1.0, 10.0, 10.0)}
    scores = [host_score(each, lopsided, components, 1.0) for each in (empty, used)]
    assert scores == pytest.approx([0.1 / 5, 0.1 / 3])


def test_an_executor_leaves_its_image_behind() -> None:
    used = host("h", 600, {}, images="").with_one_more("A").with_one_less("A")
    assert used.images == {"A"}
    assert not used.executors
