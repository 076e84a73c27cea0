"""Numbers stand with their nouns in the right form."""

from __future__ import annotations

import pytest

from formats.counted import counted, some_of


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (1, ("executor",), "1 executor"),
        (0, ("executor",), "0 executors"),
        (2, ("executor leaves", "executors leave"), "2 executors leave"),
        (1, ("executor leaves", "executors leave"), "1 executor leaves"),
    ],
)
def test_one_stands_with_the_singular_and_all_else_with_the_plural(number, words, text):
    """None, too."""
    assert counted(number, *words) == text


def test_some_of_many_are_named() -> None:
    assert some_of(["b", "a"]) == "a, b"
    assert some_of(["c", "b", "a"], 2) == "a, b and 1 more"
