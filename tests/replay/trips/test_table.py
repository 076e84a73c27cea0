"""Files of the trips table: whole or absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest
from pyarrow import parquet as pq

from replay.errors import MachineError
from replay.trips.table import SCHEMA, write_part

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk half way through; what lay there before stays."""
    path = tmp_path / "day=2013-01-01" / "part-0.parquet"
    row = dict.fromkeys(SCHEMA.names) | {"n": 1}
    write_part(pa.Table.from_pylist([row], SCHEMA), path)

    def fill(_: pa.Table, scratch: Path, **__: object) -> None:
        scratch.write_bytes(b"PAR1")
        raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    monkeypatch.setattr(pq, "write_table", fill)
    with pytest.raises(MachineError) as refused:
        write_part(SCHEMA.empty_table(), path)

    assert str(refused.value) == f"{path}: cannot be written: No space left on device"
    assert [file.name for file in path.parent.iterdir()] == ["part-0.parquet"]
    assert pq.read_table(path, partitioning=None).to_pylist() == [row]


def test_names_are_written_as_plain_strings(tmp_path: Path) -> None:
    """Dictionaries are a way to hold them, no type of the table."""
    path = tmp_path / "part-0.parquet"
    table = pa.Table.from_pylist([dict.fromkeys(SCHEMA.names) | {"n": 1, "medallion": "M"}], SCHEMA)
    encoded = table["medallion"].combine_chunks().dictionary_encode()

    write_part(table.set_column(1, "medallion", encoded), path)

    assert pq.read_schema(path).equals(SCHEMA)
