"""What others wrote is fit for a line of a terminal."""

from __future__ import annotations

import pytest

from cli.wording import printable, sentence


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zürich [x] \\", "Zürich [x] \\"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("two\nlines\x9b", r"two\nlines\x9b"),
        ("a\u202eb\u2028", r"a\u202eb\u2028"),
    ],
)
def test_control_characters_are_shown_and_not_obeyed(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"got {'1' * 40}", f"got {'1' * 40}"),
        (f"got {'123' * 200}!", "got 123123123123... (600 digits)!"),
        (
            "Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; "
            "use sys.set_int_max_str_digits() to increase the limit",
            "Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits",
        ),
        ("rows.gz: cannot be read: Not a gzipped file (b'no')", "rows.gz: cannot be read: no gzip file"),
        ("""Not a gzipped file (b'"\\'')""", "no gzip file"),
        ("damaged: Error -3 while decompressing data: invalid block type", "damaged: invalid block type"),
    ],
)
def test_sentences_have_neither_endless_numbers_nor_what_only_a_programmer_can_use(
    text: str, shown: str
) -> None:
    assert sentence(text) == shown
