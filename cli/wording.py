"""Text that others wrote (names in a file, messages of a library), made fit for a line of a terminal."""

from __future__ import annotations

import re

_DIGITS_SHOWN = 12
_LONGEST_NUMBER = 40
_NUMBER = re.compile(rf"\d{{{_LONGEST_NUMBER + 1},}}")
# those that write in the other direction and the lines' ends of Unicode move what stands around them
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_PHRASES = (
    (re.compile(r"; use sys\.set_int_max_str_digits\(\) to increase the limit"), ""),
    (re.compile(r"Not a gzipped file \(b['\"].*?['\"]\)"), "no gzip file"),
    (re.compile(r"Error -?\d+ while decompressing data: "), ""),
)


def printable(text: str) -> str:
    r"""Return a text with each control character as it would stand in JSON or Python, such as `\x1b`."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def sentence(text: str) -> str:
    """Return a message as it is shown: printable, long numbers cut, without a library's own details."""
    for pattern, words in _PHRASES:
        text = pattern.sub(words, text)
    text = _NUMBER.sub(lambda found: f"{found[0][:_DIGITS_SHOWN]}... ({len(found[0])} digits)", text)
    return printable(text)
