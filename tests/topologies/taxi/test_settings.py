"""The topology's configuration: each key is right, or named."""

from __future__ import annotations

from typing import Any

import pytest

from formats.semantics import Semantics
from topologies.batches.acking import REPLAY_KEY, is_replayed
from topologies.taxi.keys import Run
from topologies.taxi.settings import REDIS_KEY, RUN_KEY, TaxiSettings

GOOD = {REDIS_KEY: "h:1", RUN_KEY: "r"}


def test_settings_have_defaults() -> None:
    """Redis and run are needed, the rest is not."""
    settings = TaxiSettings.from_conf(GOOD)
    assert (settings.run, str(settings.redis)) == (Run("r"), "h:1")
    assert (settings.queries, settings.shares) == (("1",), 1)
    assert (settings.ahead, settings.stall_s) == (20_000, 5)
    more = {"taxi.queries": "2,1", "taxi.shares": 3, "taxi.ahead": 7, "taxi.stall.seconds": 0.5}
    assert TaxiSettings.from_conf(GOOD | more).queries == ("2", "1")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({REDIS_KEY: None}, "taxi.redis is None"),
        ({RUN_KEY: 1}, "taxi.run is 1"),
        ({REDIS_KEY: "h"}, "'h' is not HOST:PORT"),
        ({RUN_KEY: "a b"}, "run 'a b' must be"),
        ({"taxi.queries": "3"}, "taxi.queries is '3', it must be 1, 2 or 1,2"),
        ({"taxi.queries": "1,1"}, "taxi.queries is '1,1'"),
        ({"taxi.shares": 0}, "taxi.shares is 0, it must be a whole number of at least 1"),
        ({"taxi.shares": True}, "taxi.shares is True"),
        ({"taxi.ahead": 1.5}, "taxi.ahead is 1.5, it must be a whole number of at least 1"),
        ({"taxi.stall.seconds": "5"}, "taxi.stall.seconds is '5', it must be a number of at least 0.1"),
    ],
)
def test_bad_settings_name_the_key(settings: dict[str, Any], message: str) -> None:
    """A component does not start with a wrong configuration."""
    with pytest.raises(ValueError, match=message):
        TaxiSettings.from_conf(GOOD | settings)


def test_choices_go_through_the_configuration() -> None:
    """What was chosen comes out again; an unknown key is named with its prefix."""
    chosen = Semantics.of({"area-grid": "corner", "negative-profit": "ignored"})
    assert Semantics.from_conf({"other": 1, **chosen.conf()}) == chosen
    assert Semantics.from_conf({}) == Semantics()
    with pytest.raises(ValueError, match=r"taxi\.semantics\.\*: area: no such setting"):
        Semantics.from_conf({"taxi.semantics.area": "corner"})


def test_replay_is_true_or_false() -> None:
    """Anything else in the configuration is refused with its key."""
    assert (is_replayed({}), is_replayed({REPLAY_KEY: True}), is_replayed({REPLAY_KEY: False})) == (
        False,
        True,
        False,
    )
    with pytest.raises(ValueError, match=r"taxi\.replay is 'true', it must be true or false"):
        is_replayed({REPLAY_KEY: "true"})
