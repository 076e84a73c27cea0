"""What `from scheduler import ...` offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import scheduler


@pytest.mark.parametrize("name", scheduler.__all__)
def test_every_public_name_is_the_one_of_its_module(name: str) -> None:
    """And none is missing from the list of modules."""
    (home,) = (module for module, names in scheduler._NAMES.items() if name in names)

    assert getattr(scheduler, name) is getattr(sys.modules[home], name)


def test_the_modules_name_nothing_that_is_not_public() -> None:
    """Both lists agree."""
    assert sorted(name for names in scheduler._NAMES.values() for name in names) == sorted(scheduler.__all__)


def test_what_is_not_there_is_refused_as_by_any_module() -> None:
    """With the name that was asked for."""
    with pytest.raises(AttributeError, match="has no attribute plans"):
        scheduler.plans  # type: ignore[attr-defined]  # noqa: B018 - on purpose


def test_the_package_alone_loads_nothing() -> None:
    """A command that only shows its help does not wait for numpy."""
    code = "import sys, scheduler; print('numpy' in sys.modules, 'scheduler.registry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False False\n"
