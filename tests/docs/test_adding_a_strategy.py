"""The guide docs/adding-a-strategy.md, followed to the letter on a copy of the packages."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "adding-a-strategy.md").read_text()
COPIED = ("scheduler", "tests/conftest.py", "tests/scheduler", "benchmarks/instances", "pyproject.toml")


def blocks(language: str) -> list[tuple[str, str]]:
    """Return the guide's code blocks of a language: (path that follows the language, text)."""
    return re.findall(rf"^```{language} ?(\S*)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def patched(text: str, change: str) -> str:
    """Return the text with the added lines of a change; the other lines must be there, once, in a row."""
    lines = change.splitlines(keepends=True)
    known = "".join(line[1:] for line in lines if line.startswith(" "))
    assert text.count(known) == 1, f"expected once:\n{known}"
    return text.replace(known, "".join(line[1:] for line in lines))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the guide touches and runs."""
    for path in COPIED:
        source, target = ROOT / path, tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            # compiled modules come along, but none that another process is just writing
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc.*"))
        else:
            shutil.copy(source, target)
    return tmp_path


def test_the_guide_leads_to_a_strategy_that_keeps_the_contract(checkout: Path) -> None:
    """Its files are written, its changes are made, and its commands succeed."""
    for path, text in blocks("python"):
        (checkout / path).write_text(text)
    for path, change in blocks("diff"):
        file = checkout / path
        file.write_text(patched(file.read_text(), change))
    commands = [command for _, text in blocks("sh") for command in text.splitlines()]

    assert [command.split()[0] for command in commands] == ["pytest", "pytest", "ruff", "ruff"]
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert (checkout / "tests" / "scheduler" / "golden" / "random.json").exists()
