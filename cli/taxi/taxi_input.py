"""What the commands of the group `taxi` are given: each value is read, or refused by its option."""

from __future__ import annotations

import json
import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from cli.errors import UserError, refused
from formats.tier import TIERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from redis import Redis

    from formats.address import Address
    from topologies.taxi.keys import Run

_REDIS_SILENCE_S = 10.0
_CONNECTING = re.compile(r"^Error -?\d+ connecting to \S+\. ")

RedisOption = Annotated[str, typer.Option("--redis", metavar="HOST:PORT", help="Redis of rows and results.")]
RunOption = Annotated[str, typer.Option("--run", metavar="ID", help="Id of the run: one pass of rows.")]

REDIS_LONGEST_PAUSE_S = 1.0
"""A Redis that cannot be reached is asked again after ever longer pauses, of at most so many seconds."""


def read_address(option: str, text: str) -> Address:
    """Read HOST:PORT.

    Raises:
        UserError: It is none.
    """
    from formats.address import Address  # noqa: PLC0415 - keeps other commands quick

    with refused(ValueError, by=option):
        return Address.parse(text)


def read_run(text: str) -> Run:
    """Read `--run`.

    Raises:
        UserError: It is no id of a run.
    """
    from topologies.taxi.keys import Run  # noqa: PLC0415 - keeps other commands quick

    with refused(ValueError, by="--run"):
        return Run(text)


def read_pins(texts: Sequence[str], components: tuple[str, ...]) -> dict[str, str]:
    """Read each `--pin`: places by component.

    Raises:
        UserError: One has another form, names no component of the topology, or one that has a place already.
    """
    pins: dict[str, str] = {}
    for text in texts:
        component, place = _read_pin(text, components)
        if component in pins:
            raise UserError(f"--pin {text}: {component} is pinned to {pins[component]} already")
        pins[component] = place
    return pins


def _read_pin(text: str, components: tuple[str, ...]) -> tuple[str, str]:
    component, equals, place = text.partition("=")
    kind, colon, target = place.partition(":")
    named = kind in {"site", "host"} and target
    if not equals or not colon or not (named or (kind == "tier" and target in TIERS)):
        raise UserError(
            f"--pin {text}: it must be COMPONENT=site:NAME, COMPONENT=host:NAME or COMPONENT=tier:TIER "
            f"({', '.join(TIERS)})"
        )
    if component not in components:
        raise UserError(f"--pin {text}: no component {component!r}; there are {', '.join(components)}")
    return component, place


def require_finite(option: str, value: float | None) -> None:
    """Refuse a number that is infinite; None passes.

    Raises:
        UserError: It is.
    """
    if value is not None and not math.isfinite(value):
        raise UserError(f"{option}: {value} is not a finite number")


def read_conf(path: Path) -> dict[str, object]:
    """Read the file of `--conf`.

    Raises:
        UserError: It cannot be read, or holds no JSON object.
    """

    def refuse(reason: str) -> NoReturn:
        raise UserError(f"--conf {path}: {reason}")

    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        refuse(error.strerror or str(error))
    except ValueError as error:
        refuse(f"no JSON: {error}")
    if not isinstance(document, dict):
        refuse("it must hold a JSON object of topology configuration keys")
    return document


@contextmanager
def nimbus_at(text: str) -> Iterator[Any]:
    """Give a client of the Nimbus of `--nimbus`, whose errors inside the block end the command.

    Raises:
        UserError: It is no address, or Nimbus does not answer or refuses.
    """
    from formats.nimbus import NimbusError  # noqa: PLC0415 - keeps other commands quick
    from topologies.nimbus import connect  # noqa: PLC0415 - parses Storm's IDL

    with refused(NimbusError, status=1), connect(read_address("--nimbus", text)) as client:
        yield client


@contextmanager
def redis_at(text: str, *, patient: bool = True) -> Iterator[Redis]:
    """Give a client of the Redis of `--redis`, whose errors inside the block end the command.

    Args:
        text: The address.
        patient: Whether a Redis that is away is asked again, and replies become text. If not, it is said at
            once when something is wrong, and lines stay the bytes that they are.

    Raises:
        UserError: It is no address, or Redis does not answer or refuses.
    """
    from redis import Redis  # noqa: PLC0415 - keeps other commands quick
    from redis.backoff import ExponentialWithJitterBackoff  # noqa: PLC0415 - likewise
    from redis.exceptions import RedisError  # noqa: PLC0415 - likewise
    from redis.retry import Retry  # noqa: PLC0415 - likewise

    address = read_address("--redis", text)
    pauses = ExponentialWithJitterBackoff(base=0.01, cap=REDIS_LONGEST_PAUSE_S)
    try:
        yield Redis(
            host=address.host,
            port=address.port,
            decode_responses=patient,
            socket_connect_timeout=5.0,
            socket_timeout=_REDIS_SILENCE_S,
            retry=Retry(pauses, retries=10 if patient else 0),
        )
    except RedisError as error:
        raise UserError(f"Redis {text}: {_redis_reason(error)}", status=1) from error


def _redis_reason(error: Exception) -> str:
    """Return the reason of an error of Redis' client, without its numbers and the address that is known."""
    text = " ".join(str(error).split())
    return _CONNECTING.sub("", text).rstrip(".") or type(error).__name__
