"""Options of experiments that are numbers and files, checked alike."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import UserError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def check_options(settings: DataclassInstance) -> None:
    """Refuse numbers that are not finite and files that are not there, by the options of their names.

    Raises:
        UserError: There is one.
    """
    for name, value in asdict(settings).items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{option}: {value} is not a finite number")
        if isinstance(value, Path) and not value.is_file():
            raise UserError(f"{option}: no such file: {value}")
