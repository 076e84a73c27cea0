"""A guide in docs/ whose code blocks are followed to the letter in a copy of the tree."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Guide:
    """A guide; blocks of a language may be followed by the path of the file that they belong to.

    Attributes:
        text: Of the guide.
        checkout: The copy of the tree.
    """

    text: str
    checkout: Path

    @staticmethod
    def copied(name: str, paths: Sequence[str], checkout: Path) -> Guide:
        """Return a guide of docs/ with a copy of what it touches and runs, in an empty folder."""
        for path in paths:
            source, target = ROOT / path, checkout / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                # compiled modules come along, but none that another process is just writing
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc.*"))
            else:
                shutil.copy(source, target)
        return Guide((ROOT / "docs" / name).read_text(), checkout)

    def blocks(self, language: str) -> list[tuple[str, str]]:
        """Return the code blocks of a language: (path that follows the language, text)."""
        return re.findall(rf"^```{language} ?(\S*)\n(.*?)^```$", self.text, re.MULTILINE | re.DOTALL)

    def followed(self) -> set[str]:
        """Write its files, make its changes, and return their paths."""
        for path, text in self.blocks("python"):
            (self.checkout / path).parent.mkdir(parents=True, exist_ok=True)
            (self.checkout / path).write_text(text)
        for path, change in self.blocks("diff"):
            file = self.checkout / path
            file.write_text(_patched(file.read_text(), change))
        return {path for language in ("python", "diff") for path, _ in self.blocks(language)}

    def commands(self) -> list[str]:
        """Return the lines of its shell blocks."""
        return [command for _, text in self.blocks("sh") for command in text.splitlines()]

    def run(self, command: str) -> str:
        """Run a Python module with arguments, such as ``pytest tests``, and return what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)],
            cwd=self.checkout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def _patched(text: str, change: str) -> str:
    """Return the text with the added lines of a change; the other lines must be there, once, in a row."""
    lines = change.splitlines(keepends=True)
    known = "".join(line[1:] for line in lines if line.startswith(" "))
    assert text.count(known) == 1, f"expected once:\n{known}"
    return text.replace(known, "".join(line[1:] for line in lines))
