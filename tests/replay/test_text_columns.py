"""Times and numbers from texts."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest

from replay.text_columns import numbers, seconds

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def test_times_are_those_of_the_calendar() -> None:
    """Any second of the years 1 to 9999, leap days included, is the one that Python's calendar has."""
    seed = 20130101
    rng = random.Random(seed)
    first = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(seconds=1)
    last = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - EPOCH) // timedelta(seconds=1)
    wanted = [first, last, 0, 951_782_400, *(rng.randint(first, last) for _ in range(2_000))]
    texts = [(EPOCH + timedelta(seconds=value)).strftime("%Y-%m-%d %H:%M:%S").zfill(19) for value in wanted]

    values, valid = seconds(pa.array(texts))

    assert valid.all(), seed
    assert values.tolist() == wanted, seed


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "2013-01-01",
        "2013-01-01T00:00:00",
        "2013-01-01 00:00:00 ",
        " 2013-01-01 00:00:0",
        "2013-02-29 00:00:00",
        "1900-02-29 00:00:00",
        "2013-04-31 00:00:00",
        "2012-01-32 00:00:00",
        "2013-13-01 00:00:00",
        "2013-00-01 00:00:00",
        "2013-01-00 00:00:00",
        "2013-01-01 24:00:00",
        "2013-01-01 00:60:00",
        "2013-01-01 00:00:60",
        "0000-01-01 00:00:00",
        "2013-01-01 0x:00:00",
        "2013/01/01 00:00:00",
    ],
)
def test_what_is_no_time_spoils_no_other(text: str | None) -> None:
    values, valid = seconds(pa.array(["1970-01-02 00:00:01", text, "2012-02-29 00:00:00"]))

    assert valid.tolist() == [True, False, True]
    assert values[[0, 2]].tolist() == [86_401, 1_330_473_600]


def test_what_is_no_time_alone_is_found_without_another_to_stop_at() -> None:
    """Each of these is read by Arrow's cast, or by none of its ways."""
    for texts, valid in (
        ([], []),
        (["0000-12-31 23:59:59"], [False]),
        (["2013-01-01T00:00:00", None], [False, False]),
    ):
        values, known = seconds(pa.array(texts, pa.string()))

        assert known.tolist() == valid
        assert values.tolist() == [0] * len(texts)


def test_times_and_numbers_of_a_slice_are_its_own() -> None:
    """Arrow gives parts of larger arrays."""
    times = pa.array(["x", "1969-12-31 23:59:59", None, "2000-03-01 00:00:01", "9999-12-31 23:59:59"])

    for part, known in (
        (times.slice(1, 3), [-1, 0, 951_868_801]),
        (times.slice(3), [951_868_801, 253_402_300_799]),
    ):
        assert seconds(part)[0].tolist() == known
    assert numbers(pa.array(["7", "-1.5", "+1", ".5", "1."]).slice(1))[0].tolist() == [-1.5, 1.0, 0.5, 1.0]


def test_numbers_are_finite_decimals_or_absent() -> None:
    good = {"3.50": 3.5, "-73.981": -73.981, " +4.0e1 ": 40.0, ".5": 0.5, "7.": 7.0, "0": 0.0}
    bad = ["nan", "inf", "1e999", "40,7", "-73.98d", "0x10", " ", "1_0", "٣"]
    texts = [*good, None, *bad]

    values, valid = numbers(pa.array(texts))

    assert values[: len(good)].tolist() == list(good.values())
    assert valid.tolist() == [True] * (len(good) + 1) + [False] * len(bad)
    assert all(math.isnan(value) for value in values[len(good) :].tolist())
    assert np.isfinite(values[: len(good)]).all()
