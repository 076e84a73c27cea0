"""What waits at a real Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from provisioning.measuring.lag import AtSource, LagError
from provisioning.measuring.redis_lag import RedisLagSettings
from tests.scripted_server import closed_port

if TYPE_CHECKING:
    from tests.topologies.conftest import RedisServer


def test_all_that_is_in_a_list_waits(redis_server: RedisServer) -> None:
    reader = RedisLagSettings(kind="redis", address=str(redis_server.address), key="rows").reader()
    assert reader.lag() == AtSource(0.0)
    with redis_server.client() as client:
        client.rpush("rows", *range(7))
    assert reader.lag() == AtSource(7.0)


def test_of_a_stream_what_its_group_has_not_read_waits(redis_server: RedisServer) -> None:
    settings = RedisLagSettings(kind="redis", address=str(redis_server.address), key="rows", group="taxi")
    with redis_server.client() as client:
        client.xgroup_create("rows", "taxi", mkstream=True)
        for n in range(5):
            client.xadd("rows", {"n": n})
        client.xreadgroup("taxi", "spout", {"rows": ">"}, count=2)
        assert settings.reader().lag() == AtSource(3.0, 5.0), "Redis counts all that ever came"
        assert RedisLagSettings(
            kind="redis", address=str(redis_server.address), key="rows"
        ).reader().lag() == AtSource(5.0)


def test_a_list_has_what_its_writer_counts(redis_server: RedisServer) -> None:
    reader = RedisLagSettings(
        kind="redis", address=str(redis_server.address), key="rows", counter="rows:count"
    ).reader()
    with redis_server.client() as client:
        assert reader.lag() == AtSource(0.0, 0.0)
        client.rpush("rows", 1, 2, 3)
        client.incrby("rows:count", 9)
        assert reader.lag() == AtSource(3.0, 9.0)
        client.set("rows:count", "many")
        with pytest.raises(LagError, match="key rows: counter rows:count is no number"):
            reader.lag()
        client.set("rows:count", b"\xff")
        with pytest.raises(LagError, match="key rows: 'utf-8' codec can't decode"):
            reader.lag()


def test_what_has_come_and_is_not_done_waits(redis_server: RedisServer) -> None:
    reader = RedisLagSettings(
        kind="redis",
        address=str(redis_server.address),
        counter=("taxi:feed", "fed"),
        done=("taxi:progress", "released:1"),
    ).reader()
    assert reader.lag() == AtSource(0.0, 0.0)
    with redis_server.client() as client:
        client.hset("taxi:feed", "fed", "90")
        client.hset("taxi:progress", "released:1", "83")
        assert reader.lag() == AtSource(7.0, 90.0)
        client.hset("taxi:feed", "fed", "80")
        assert reader.lag() == AtSource(0.0, 80.0), "asked between two writes"
        client.hset("taxi:progress", "released:1", "many")
        with pytest.raises(LagError, match=f"Redis {redis_server.address}: counter taxi:progress released:1"):
            reader.lag()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "needs either key, or done and counter"),
        ({"key": "rows", "done": "d", "counter": "c"}, "needs either key, or done and counter"),
        ({"done": "d"}, "done needs counter"),
        ({"done": "d", "counter": "c", "group": "g"}, "has no group"),
        ({"done": "d", "counter": ("a", "b", "c")}, "counter"),
    ],
)
def test_what_does_not_say_what_waits_is_refused(keys: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        RedisLagSettings.model_validate({"kind": "redis", "address": "redis:6379", **keys})


def test_an_unknown_group_is_named(redis_server: RedisServer) -> None:
    settings = RedisLagSettings(kind="redis", address=str(redis_server.address), key="rows", group="taxi")
    with redis_server.client() as client:
        client.xgroup_create("rows", "others", mkstream=True)
    with pytest.raises(LagError, match="key rows: there is no group taxi"):
        settings.reader().lag()


def test_a_key_of_another_kind_is_named(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        client.set("rows", "7")
    reader = RedisLagSettings(kind="redis", address=str(redis_server.address), key="rows").reader()
    with pytest.raises(LagError, match="key rows: WRONGTYPE"):
        reader.lag()


def test_no_redis_is_one_sentence() -> None:
    address = f"127.0.0.1:{closed_port()}"
    with pytest.raises(LagError, match=f"Redis {address}, key rows: "):
        RedisLagSettings(kind="redis", address=address, key="rows").reader().lag()


def test_an_address_is_checked_before() -> None:
    with pytest.raises(ValidationError, match="HOST:PORT"):
        RedisLagSettings(kind="redis", address="redis", key="rows")
