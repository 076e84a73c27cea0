"""The components of query 2 chained: the same answers at any number of tasks, whatever happens on the way."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from formats.semantics import Semantics
from tests.reference.choices import Choices
from tests.reference.query2 import query2
from tests.topologies.taxi.areas.chain import COMPONENTS, SINGLE, Chain, Written
from tests.topologies.taxi.areas.messy import messy_lines
from topologies.batches.ranges import unpack_ranges

if TYPE_CHECKING:
    from tests.reference.query1 import Answers

VALUES = {
    "nulls": ("per-cell", "per-route"),
    "pickup": ("column", "computed"),
    "area-grid": ("centred", "corner"),
    "median": ("exact", "cents"),
    "idle-areas": ("hidden", "zero"),
    "negative-profit": ("kept", "ignored"),
    "q2-emit": ("areas", "values"),
    "profitability": ("exact", "cents"),
    "expiry": ("with-rows", "own-rows"),
}


def seeded() -> random.Random:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    return random.Random(seed)


def cut(chance: random.Random, rows: int, most: int) -> list[int]:
    """Last rows of batches of 1 to `most` rows."""
    ends = []
    last = 0
    while last < rows:
        last = min(rows, last + chance.randint(1, most))
        ends.append(last)
    return ends


def answered(
    lines: list[str], semantics: Semantics, shares: int, chance: random.Random, most: int
) -> Written:
    chain = Chain(semantics, shares, tasks=chance.randint(1, shares), chance=chance)
    chain.feed_epoch(1, lines, cut(chance, len(lines), most))
    chain.run()
    return chain.written


def compare(written: Written, answers: Answers) -> None:
    """What was written is what the reference says (of the states the reference has ten ranks)."""
    assert list(unpack_ranges(",".join(written.passed))) == answers.passed
    reasons = [rejected.split(" ")[1] for rejected in written.rejected]
    assert {reason: reasons.count(reason) for reason in reasons} == answers.rejected
    assert written.tops == [f"{n} {row}" for n, row in answers.tops]
    states = [state.split(" ", 2) for state in written.states]
    assert [(int(n), json.loads(state)) for n, _, state in states] == [
        (n, state) for n, _, state in answers.states
    ]


@pytest.mark.parametrize("shares", [1, 2, 4])
def test_real_rows_are_answered_as_by_the_reference(
    lines: list[str], reference_answers: Answers, shares: int
) -> None:
    """10,004 rows in batches of any size, their tuples in any order, over 1, 2 and 4 shares."""
    written = answered(lines, Semantics(), shares, seeded(), 700)
    compare(written, reference_answers)
    assert written.released == len(lines) + 1


@pytest.mark.parametrize("case", range(12))
def test_messy_rows_are_answered_as_by_the_reference(case: int) -> None:
    """All choices, all faults, ties, and the tasks of 1, 2 and 4 shares write the same byte for byte."""
    chance = seeded()
    settings = {name: chance.choice(values) for name, values in VALUES.items()} if case else {}
    semantics = Semantics.of(settings)
    lines = messy_lines(chance, 150)
    written = [answered(lines, semantics, shares, chance, 40) for shares in (1, 2, 4)]
    first = written[0]
    for each in written:
        assert (each.tops, each.states, each.rejected) == (first.tops, first.states, first.rejected)
    compare(first, query2(lines, Choices(**asdict(semantics))))


@pytest.mark.parametrize("case", range(12))
def test_a_new_epoch_goes_on_where_the_results_ended(case: int) -> None:
    """Tasks die, tuples of earlier epochs come late: nothing is missing, doubled or different."""
    chance = seeded()
    lines = messy_lines(chance, 200)
    expected = answered(lines, Semantics(), 2, chance, 30)
    chain = Chain(Semantics(), shares=chance.choice((1, 2, 4)), tasks=2, chance=chance)
    for epoch in range(1, 5):
        start = chain.written.start().start
        batches = sorted({*cut(chance, len(lines), 30), chain.written.released, start - 1})
        chain.feed_epoch(epoch, lines, batches, origin=chance.randint(1, start))
        chain.run(chance.randint(1, 150 if case else 5) if epoch < 4 else None)
        for name in COMPONENTS:
            if name not in SINGLE and chance.random() < 0.3:
                chain.kill(name, chance.randrange(2))
        if chance.random() < 0.3:
            chain.kill(chance.choice(sorted(SINGLE)), 0)
        if chain.written.released > len(lines):
            break
    assert (chain.written.tops, chain.written.states) == (expected.tops, expected.states)
    assert chain.written.rejected == expected.rejected
    passed = [list(unpack_ranges(",".join(written.passed))) for written in (chain.written, expected)]
    assert passed[0] == passed[1]
