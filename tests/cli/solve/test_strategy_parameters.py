"""`--set KEY=VALUE` gives parameters to strategies, typed by their parameter classes."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest

from cli.errors import UserError
from cli.solve.strategy_parameters import read_parameters
from scheduler.contract.strategy import StrategyEntry
from scheduler.registry import STRATEGIES

EXAMPLE = Path(__file__).parents[3] / "benchmarks" / "instances" / "sequential-100.json"


@dataclass(frozen=True)
class Everything:
    whole: int = 1
    real: float = 1.0
    flag: bool = False
    text: str = ""
    choice: Literal["here", "there"] = "here"
    size: Literal[2, 4] = 2
    maybe: float | None = None
    strange: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.whole < 0:
            raise ValueError(f"whole: expected a whole number >= 0, got {self.whole}")


ENTRY: StrategyEntry[Any] = StrategyEntry("odd", lambda *_: None, Everything, "")  # type: ignore[arg-type,return-value]


def test_each_text_becomes_a_value_of_its_type() -> None:
    """Numbers, truth, texts, choices, and none where that is one."""
    settings = ["whole=7", "real=1e-3", "flag=true", "text=a=b", "choice=there", "size=4", "maybe=2"]

    assert read_parameters(ENTRY, settings) == Everything(7, 0.001, True, "a=b", "there", 4, 2.0)
    assert read_parameters(ENTRY, ["maybe=none"]) == Everything()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("whole=1.5", "--set whole=1.5: expected a whole number"),
        ("real=fast", "--set real=fast: expected a number"),
        ("real=nan", "--set real=nan: expected a number"),
        ("flag=1", "--set flag=1: expected true or false"),
        ("choice=where", "--set choice=where: expected here or there"),
        ("size=3", "--set size=3: expected 2 or 4"),
        ("maybe=x", "--set maybe=x: expected a number or none"),
        ("strange=1", "--set strange=1: expected no --set: it cannot be set here"),
        ("whole", "--set whole: expected KEY=VALUE"),
        ("=1", "--set =1: expected KEY=VALUE"),
        ("whole=-1", "--set whole: expected a whole number >= 0, got -1"),
        ("whole=1" + 400 * "0", "--set whole=1" + 400 * "0" + ": expected a whole number"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_expected(setting: str, message: str) -> None:
    """By the type, or by the class itself."""
    with pytest.raises(UserError) as refused:
        read_parameters(ENTRY, [setting])
    assert (str(refused.value), refused.value.status) == (message, 2)


def test_a_key_is_known_and_given_once() -> None:
    """The message lists those that there are."""
    with pytest.raises(UserError, match=r'"hue"; its parameters are whole, real, .*strange$'):
        read_parameters(ENTRY, ["hue=1"])
    with pytest.raises(UserError, match='"whole" is set twice'):
        read_parameters(ENTRY, ["whole=1", "whole=2"])
    with pytest.raises(UserError, match='greedy has no parameter "x"; it has no parameters'):
        read_parameters(STRATEGIES["greedy"], ["x=1"])


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_parameter_of_every_strategy_can_be_set(name: str) -> None:
    """The text of its default gives the default."""
    entry = STRATEGIES[name]
    defaults = entry.parameters()
    get_type_hints(entry.parameters)
    settings = []
    for each in fields(defaults):
        value = getattr(defaults, each.name)
        settings.append(f"{each.name}={str(value).lower() if isinstance(value, bool | None) else value}")
    assert read_parameters(entry, settings) == defaults


def test_the_command_uses_them_and_refuses_bad_ones(run: Any) -> None:
    """A search of no rounds is greedy."""
    greedy = json.loads(run(EXAMPLE, "--strategy", "greedy", "--json")[1])
    none = json.loads(run(EXAMPLE, "--strategy", "local-search", "--json", "--set", "max_rounds=0")[1])

    assert none["placement"] == greedy["placement"]
    assert run(EXAMPLE, "--strategy", "local-search", "--set", "max_rounds=-1") == (
        2,
        "",
        "stormplace: --set max_rounds: expected a whole number >= 0, got -1\n",
    )
