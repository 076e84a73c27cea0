"""What native libraries print stays out of a command's results."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.programs

PROGRAM = """
import ctypes
from cli.native_output import native_output_hidden

print("before")
try:
    with native_output_hidden():
        print("nowhere")
        ctypes.CDLL(None).puts(b"a line of a library")
        raise KeyError
except KeyError:
    print("after")
"""


def test_native_lines_are_hidden_and_ours_are_not() -> None:
    """Through a pipe, in which C writes late; also if what is worked out fails."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "before\nafter\n"


def test_a_closed_standard_output_is_no_fault() -> None:
    program = "import os; os.close(1)\nfrom cli.native_output import native_output_hidden\n"
    program += "with native_output_hidden(): pass"
    subprocess.run([sys.executable, "-c", program], check=True)
