"""Rules of the collector's settings."""

from __future__ import annotations

from typing import Any

import pytest

from monitoring.rates.rates_options import CollectorError, CollectorOptions


def options(**changes: Any) -> CollectorOptions:
    return CollectorOptions(**{"nimbus": "nimbus:6627", "zookeeper": "zk:2181", **changes})


def test_good_settings_pass() -> None:
    """Several addresses of either kind are possible."""
    good = options(nimbus="n1:6627,[2001:db8::1]:6628", zookeeper="a:1,b:65535", interval_s=1)
    good.check()
    assert [(one.host, one.port) for one in good.nimbus_addresses()] == [("n1", 6627), ("2001:db8::1", 6628)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nimbus": "nimbus"}, "--nimbus 'nimbus' is not HOST:PORT"),
        ({"nimbus": "a:1,"}, "--nimbus '' is not HOST:PORT"),
        ({"zookeeper": "zk:0"}, "--zookeeper 'zk:0' is not HOST:PORT"),
        ({"root": "stormplace"}, "--root 'stormplace' is not a path such as /stormplace"),
        ({"interval_s": 0.5}, "--interval-s 0.5 is not from 1 to 60"),
        ({"window_s": 19.0}, "--window-s 19 is not from 20 to 600"),
        ({"interval_s": float("nan")}, "--interval-s nan is not from 1 to 60"),
    ],
)
def test_a_setting_that_cannot_work_is_named(changes: dict[str, Any], said: str) -> None:
    """One sentence with the option and the value."""
    with pytest.raises(CollectorError) as error:
        options(**changes).check()
    assert str(error.value) == said


def test_all_bad_settings_are_named_at_once() -> None:
    """One try shows all of them."""
    with pytest.raises(CollectorError, match=r"--nimbus .*; --root .*; --interval-s"):
        options(nimbus="x", root="y", interval_s=99).check()
