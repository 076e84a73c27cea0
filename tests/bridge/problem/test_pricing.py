"""Prices of a topology are known where all of its hosts state what they are made of."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bridge.network.cluster import Host, Hosts
from bridge.problem.pricing import pricing_of
from bridge.wishes.topology_settings import parse_topology_settings

COMPONENTS = ("a", "b")


def settings(stated):
    text = json.dumps({f"topology.stormplace.{key}": value for key, value in stated.items()})
    return parse_topology_settings(text, COMPONENTS, ("auto",), "auto", 0)


def hosts(*stated):
    """Hosts h0, h1, ... by cost and rate."""
    return Hosts(
        tuple(
            Host(f"h{number}", None, (number,), usable=True, capacity={}, cost=cost, pull_mb_per_s=rate)
            for number, (cost, rate) in enumerate(stated)
        ),
        (),
        (),
    )


def priced(stated, cluster, reach=True):
    within = np.full(len(cluster.hosts), reach) if isinstance(reach, bool) else np.array(reach)
    return pricing_of(settings(stated), cluster, within, ("a", "b", "b"))


LOADS = {"image.mb": 100, "state.mb": {"b": 20}}


def test_a_move_pays_for_what_is_loaded_where_it_is_loaded():
    """Hosts at 2 and 3 a second, that load 10 and 5 MB/s: the image once, state with each executor."""
    pricing = priced(LOADS, hosts((2.0, 10.0), (3.0, 5.0)))
    assert pricing.price([0, 0, 0], [0, 0, 0]) == 0
    assert pricing.price([0, 0, 0], [1, 0, 0]) == pytest.approx(100 / 5 * 3)
    assert pricing.price([0, 0, 0], [1, 1, 1]) == pytest.approx((100 + 20 + 20) / 5 * 3)
    assert pricing.price([1, 0, 1], [1, 1, 0]) == pytest.approx(20 / 5 * 3 + 20 / 10 * 2)
    assert pricing.shared_pull_s(np.array([1, 0])).tolist() == [20.0, 10.0]


def test_what_nothing_asks_for_is_not_worked_out():
    """Costs are there to be shown."""
    pricing = priced({}, hosts((2.0, 10.0), (None, None)))
    assert (pricing.cost.tolist(), pricing.pull_mb_per_s, pricing.notes) == ([2.0, 0.0], None, ())
    assert pricing.price([0, 0, 0], [1, 1, 1]) == 0
    assert pricing.shared_pull_s(np.array([0])).tolist() == [0.0]


@pytest.mark.parametrize(
    ("asked", "stated", "reason"),
    [
        ({"image.mb": 1}, ((2.0, None), (3.0, 5.0)), "1 host states no stormplace.pull.mb.per.sec (h0)"),
        (
            {"image.mb": 1},
            ((None, 1.0),) * 5 + ((1.0, 1.0),),
            "5 hosts state no stormplace.cost (h0, h1, h2 and 2 more)",
        ),
        ({"replan.horizon.secs": 5}, ((1.0, 1.0),), "the price of a move is not known"),
        ({"replan.horizon.secs": 5, "image.mb": 5}, ((1.0, 1.0),), "cost is not weighed"),
        ({"budget.migration": 5}, ((1.0, 1.0),), "the price of a move is not known"),
        ({"budget.cost.per.sec": 5}, ((None, 1.0),), "no supervisor states stormplace.cost"),
    ],
)
def test_what_is_asked_for_and_not_known_is_named(asked, stated, reason):
    """A budget that cannot be checked besides, and nothing is known in part."""
    pricing = priced(asked, hosts(*stated))
    name = next(iter(asked)).replace("image.mb", "image.mb or state.mb")
    assert pricing.notes == (f"{name} is stated but {reason}",)
    assert pricing.unchecked == (name if name.startswith("budget.") else "")
    if "stormplace.cost" in reason:
        assert not pricing.cost.any()
    if "pull" in reason:
        assert pricing.pull_mb_per_s is None


def test_what_lacks_the_same_is_named_together():
    asked = {"budget.cost.per.sec": 5, "weights": {"cost": 1}}
    assert priced(asked, hosts((None, 1.0))).notes == (
        "cost is weighed and budget.cost.per.sec is stated but no supervisor states stormplace.cost",
    )


def test_hosts_out_of_reach_need_not_state_anything():
    pricing = priced(LOADS, hosts((2.0, 10.0), (None, None)), reach=[True, False])
    assert pricing.notes == ()
    assert pricing.price([0, 0, 0], [0, 0, 0]) == 0
    assert pricing.pull_mb_per_s is not None
