"""The plain reference's answers of query 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reference.query2 import query2

if TYPE_CHECKING:
    from tests.reference.query1 import Answers


@pytest.fixture(scope="session")
def reference_answers(lines: list[str]) -> Answers:
    """Answers to the 10,004 real rows with all choices as they are by default, computed once."""
    return query2(lines)
