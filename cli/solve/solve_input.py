"""The instance file that `solve` reads, and JSON files in general."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import UserError, refused

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


_STANDARD_INPUT = Path("/dev/stdin")


def file_name(text: str) -> Path:
    """Return the path of a file that is named on the command line; `-` is what is piped in.

    Raises:
        UserError: The name is empty, which would be the working folder.
    """
    if not text:
        raise UserError("the name of a file is empty")
    return _STANDARD_INPUT if text == "-" else Path(text)


def read_problem(file: Path) -> Problem:
    """Return the problem of an instance file.

    Raises:
        UserError: The file cannot be read, is no JSON or no instance; the message names file and place.
    """
    from scheduler.base.checks import ModelError  # noqa: PLC0415  # numpy loads only when something is solved
    from scheduler.instances.document import parse_instance  # noqa: PLC0415

    with refused(ModelError, by=str(file)):
        return parse_instance(read_json(file))


def read_json(file: Path) -> object:
    """Return the parsed JSON of a file; an object with a key given twice is refused.

    Raises:
        UserError: The file cannot be read or is no JSON; the message names file and place.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not a UTF-8 text (byte {error.start})") from None

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                raise UserError(f'{file}: the key "{key}" is given twice in one object')
            seen[key] = value
        return seen

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise UserError(
            f"{file}: not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise UserError(f"{file}: objects are nested too deeply") from None
    except ValueError as error:  # an integer with thousands of digits
        raise UserError(f"{file}: not JSON: {error}") from None
