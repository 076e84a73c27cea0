"""How event time is cut into blocks."""

from __future__ import annotations

from replay.expected.boundaries import false_tops
from replay.expected.event_blocks import LARGEST_BLOCK, SMALLEST_BLOCK, SPAN_S, Span, block_rows, lay_out


def test_a_block_has_its_spans_and_those_of_the_half_hour_before() -> None:
    """Spans 6 and 7 follow a pause, so block 2 has no history."""
    spans = [Span(number, 10, {1: number}) for number in (7, 1, 2, 3, 4, 6)]
    spans += [Span(100, 10, {1: 100})]

    layout = lay_out(spans, 20)

    assert sorted(layout.members, key=lambda each: (each[1], each[0])) == [
        *((span, 0) for span in (1, 2)),
        *((span, 1) for span in (1, 2, 3, 4)),
        *((span, 2) for span in (3, 4, 6, 7)),
        (100, 3),
    ]
    assert [bounds.start_s for bounds in layout.bounds.values()] == [SPAN_S * span for span in (1, 3, 6, 100)]


def test_a_block_knows_the_first_row_that_ended_later() -> None:
    """Query 2 considers no row of the last two spans."""
    spans = [
        Span(1, 9, {1: 4, 2: 5}),
        Span(2, 9, {1: 1, 2: 2}),
        Span(3, 9, {1: 3, 2: None}),
        Span(4, 9, {1: 7, 2: None}),
    ]

    layout = lay_out(spans, 1)

    assert [layout.bounds[block].later for block in range(4)] == [
        {1: 1, 2: 2},
        {1: 3, 2: None},
        {1: 7, 2: None},
        {1: None, 2: None},
    ]


def test_no_rows_no_blocks() -> None:
    assert lay_out([], 10).bounds == {}


def test_blocks_are_neither_too_small_nor_too_large() -> None:
    assert block_rows(10_000, 2) == SMALLEST_BLOCK
    assert block_rows(400_000, 2) == 50_000
    assert block_rows(20_000_000, 2) == LARGEST_BLOCK


def test_a_first_row_that_repeats_what_was_before_is_no_output_row() -> None:
    """Query 2 has no row in block 1, and begins with no area at all."""
    edges = [
        (1, 0, "top", ["a"]),
        (1, 0, "edge", ["b"]),
        (1, 1, "edge", ["c"]),
        (1, 1, "top", ["b"]),
        (1, 2, "top", ["b"]),
        (1, 2, "edge", ["b"]),
        (2, 0, "top", []),
        (2, 0, "edge", ["b"]),
        (2, 2, "top", ["b"]),
        (2, 2, "edge", ["b"]),
    ]

    assert false_tops(edges) == {(1, 1), (2, 0), (2, 2)}
