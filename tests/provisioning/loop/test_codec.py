"""Tables of numbers in a file: the same to the bit, small, and never read as something else."""

from __future__ import annotations

import base64
import json
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from pydantic import ValidationError

from provisioning.loop.codec import codec

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Table:
    values: FloatArray


def read(found: object) -> FloatArray:
    table: Table = codec(Table).validate_python({"values": found})
    return table.values


def written(values: FloatArray) -> Any:
    return codec(Table).dump_python(Table(values), mode="json")["values"]


@given(arrays(np.float64, array_shapes(min_dims=0, min_side=0), elements=st.floats()))
def test_an_array_is_read_as_it_was(values: FloatArray) -> None:
    """Also what JSON has no word for."""
    again = read(json.loads(json.dumps(written(values), allow_nan=False)))
    assert again.shape == values.shape
    assert again.tobytes() == values.tobytes()
    assert not again.flags.writeable


def test_an_array_that_is_no_block_of_memory() -> None:
    values = np.arange(12.0).reshape(3, 4).T
    assert (read(written(values)) == values).all()


def test_tables_of_few_different_numbers_are_small() -> None:
    assert len(json.dumps(written(np.zeros((2000, 11, 2, 3))))) < 10_000


GOOD = written(np.array([1.0, math.inf]))


@pytest.mark.parametrize(
    "found",
    [
        None,
        [1.0],
        {"shape": [2]},
        {**GOOD, "more": 1},
        {**GOOD, "shape": [3]},
        {**GOOD, "shape": [1]},
        {**GOOD, "shape": [-2]},
        {**GOOD, "shape": ["2"]},
        {**GOOD, "shape": 2},
        {**GOOD, "shape": [2**70]},
        {**GOOD, "zlib-f8": "?"},
        {**GOOD, "zlib-f8": 3},
        {**GOOD, "zlib-f8": GOOD["zlib-f8"][:-8]},
        {**GOOD, "zlib-f8": base64.b64encode(zlib.compress(bytes(24))).decode()},
    ],
)
def test_what_is_none_is_refused(found: object) -> None:
    with pytest.raises(ValidationError):
        read(found)
