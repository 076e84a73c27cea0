"""Large contents of znodes are packed, and a reader takes both forms."""

from __future__ import annotations

import json
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.packed_content import MAX_UNPACKED_BYTES, PACK_ABOVE_BYTES, pack, unpack

LARGE = json.dumps({f"peer-{number}": number * 1.234 for number in range(200)}).encode()


@given(st.dictionaries(st.text(), st.lists(st.floats(allow_nan=False) | st.text(), max_size=30), max_size=30))
def test_what_is_packed_is_unpacked_to_the_same_text(fields: dict[str, list[float | str]]) -> None:
    text = json.dumps(fields).encode()
    assert unpack(pack(text)) == text
    assert len(pack(text)) <= len(text)


def test_a_small_content_stays_the_text_that_it_is() -> None:
    """Up to the limit that is stated; one byte more is packed."""
    small = b"[" + b" " * (PACK_ABOVE_BYTES - 2) + b"]"
    assert pack(small) is small
    assert unpack(small) == small
    assert pack(small + b" ")[0] == 0x78


def test_a_large_content_is_packed_to_less_than_half() -> None:
    assert len(LARGE) > PACK_ABOVE_BYTES
    assert len(pack(LARGE)) < len(LARGE) / 2


def test_a_content_that_would_not_get_shorter_stays_as_it_is() -> None:
    noise = b"{" + random.Random(1).randbytes(2 * PACK_ABOVE_BYTES)
    assert pack(noise) == noise


def test_a_text_of_the_largest_size_is_unpacked_and_a_longer_one_is_not() -> None:
    """However little it takes when it is packed."""
    assert len(unpack(zlib.compress(b"[" * MAX_UNPACKED_BYTES))) == MAX_UNPACKED_BYTES
    with pytest.raises(ValueError, match=r"^packed content stands for more than 4194304 bytes$"):
        unpack(zlib.compress(b"[" * (MAX_UNPACKED_BYTES + 1)))


def test_no_more_is_unpacked_than_shows_that_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bomb costs no memory for all that it stands for."""
    asked = []

    class Stream:
        def decompress(self, _content: bytes, longest: int) -> bytes:
            asked.append(longest)
            return b"[" * longest

    monkeypatch.setattr("formats.packed_content.zlib.decompressobj", Stream)
    with pytest.raises(ValueError, match="more than"):
        unpack(b"x")
    assert asked == [MAX_UNPACKED_BYTES + 1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(pack(LARGE)[:-1], "packed content ends too early", id="without its end"),
        pytest.param(pack(LARGE)[:40], "packed content ends too early", id="cut"),
        pytest.param(b"x", "packed content ends too early", id="one byte"),
        pytest.param(b"xyz", "packed content is damaged", id="words"),
        pytest.param(pack(LARGE)[:-1] + b"\x00", "packed content is damaged", id="wrong checksum"),
        pytest.param(b"\x78\x9c" + b"\xff" * 99, "packed content is damaged", id="noise"),
        pytest.param(pack(LARGE) + b"{}", "packed content goes on after its end", id="longer"),
    ],
)
def test_what_cannot_be_unpacked_is_refused_with_the_reason(content: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{reason}$"):
        unpack(content)


@given(st.binary())
def test_of_whatever_a_znode_holds_there_is_a_text_or_a_reason(content: bytes) -> None:
    for held in (content, b"\x78" + content, b"\x78\x9c" + content):
        try:
            text = unpack(held)
        except ValueError:
            continue
        assert text == held or held[0] == 0x78
