"""The plain reference's answers of query 2."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import pytest

from tests.reference.query2 import City, Listed, query2

if TYPE_CHECKING:
    from tests.reference.query1 import Answers


@pytest.fixture(scope="session")
def reference_answers(lines: list[str]) -> Answers:
    """Answers to the 10,004 real rows with all choices as they are by default, computed once."""
    return query2(lines)


@pytest.fixture
def settled_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reference say what it leaves to chance: of equal areas that one row made fresh, which is first.

    It is the one with the lower index to the east, then to the south. No real row needs the rule.
    """

    def rank(each: Listed) -> tuple[float, int, int, int]:
        east, south = map(int, each.area.split("."))
        return each.profitability, each.freshest, -east, -south

    monkeypatch.setattr(City, "best", lambda city: heapq.nlargest(10, city.listed.values(), key=rank))
