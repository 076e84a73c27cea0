"""Guides of docs/, followed to the letter on a copy of the packages."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = (
    "scheduler",
    "tests/conftest.py",
    "tests/scheduler",
    "benchmarks/instances",
    "pyproject.toml",
    "docs",
)


@dataclass(frozen=True)
class Guide:
    """A guide whose code blocks name the file that they are, or change, after the language."""

    text: str

    @staticmethod
    def named(name: str) -> Guide:
        """Return a guide of docs/."""
        return Guide((ROOT / "docs" / name).read_text())

    def blocks(self, language: str) -> list[tuple[str, str]]:
        """Return the code blocks of a language: (path that follows the language, text)."""
        return re.findall(rf"^```{language} ?(\S*)\n(.*?)^```$", self.text, re.MULTILINE | re.DOTALL)

    @property
    def files(self) -> set[str]:
        """The files that are written or changed."""
        return {path for language in ("python", "diff") for path, _ in self.blocks(language)}

    def follow(self, checkout: Path) -> list[str]:
        """Write the files, make the changes, run the commands in a checkout, and return them; all succeed."""
        for path, text in self.blocks("python"):
            (checkout / path).write_text(text)
        for path, change in self.blocks("diff"):
            file = checkout / path
            file.write_text(_patched(file.read_text(), change))
        commands = [command for _, text in self.blocks("sh") for command in text.splitlines()]
        for command in commands:
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(command)],
                cwd=checkout,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return commands


def checkout_at(target: Path) -> Path:
    """Copy what guides touch and run to a folder, and return it."""
    for path in COPIED:
        copy = target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).is_dir():
            # compiled modules come along, but none that another process is just writing
            shutil.copytree(ROOT / path, copy, ignore=shutil.ignore_patterns("*.pyc.*"))
        else:
            shutil.copy(ROOT / path, copy)
    return target


def _patched(text: str, change: str) -> str:
    """Return the text with the added lines of a change; the other lines must be there, once, in a row."""
    lines = change.splitlines(keepends=True)
    known = "".join(line[1:] for line in lines if line.startswith(" "))
    assert text.count(known) == 1, f"expected once:\n{known}"
    return text.replace(known, "".join(line[1:] for line in lines))
