"""Reading the daemon's settings: all faults of a file in one sentence, each with its path."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bridge.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pydantic_core import ErrorDetails


class SettingsError(ValueError):
    """Bad daemon settings: one sentence that names the file and every bad key."""


def load_settings(path: Path, known_strategies: Iterable[str]) -> Settings:
    """Read a settings file.

    Args:
        path: TOML file.
        known_strategies: Names that `plan.strategy` may take.

    Raises:
        SettingsError: The file cannot be read, is no TOML, or holds unknown keys or bad values (all named).
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})"
        raise SettingsError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path}: is not UTF-8 text (byte {error.start})"
        raise SettingsError(msg) from error
    except tomllib.TOMLDecodeError as error:
        msg = f"{path}: is not TOML: {error}"
        raise SettingsError(msg) from error
    faults: list[str] = []
    settings = Settings()
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        faults.extend(_fault(item) for item in error.errors(include_url=False))
    faults.extend(_strategy_faults(data, known_strategies))
    if faults:
        msg = f"{path}: " + "; ".join(faults)
        raise SettingsError(msg)
    return settings


def settings_from_json(text: str) -> Settings:
    """The inverse of `Settings.to_json`, for records.

    Raises:
        SettingsError: The text is no dump of this version's settings.
    """
    try:
        return Settings.model_validate_json(text)
    except ValidationError as error:
        msg = "; ".join(_fault(item) for item in error.errors(include_url=False))
        raise SettingsError(msg) from error


def _strategy_faults(data: dict[str, Any], known_strategies: Iterable[str]) -> list[str]:
    # Judged on the raw data so that it is told together with all other faults.
    plan = data.get("plan")
    if not isinstance(plan, dict) or not isinstance(plan.get("strategy"), str):
        return []
    known = sorted(known_strategies)
    if plan["strategy"] in known:
        return []
    return [f"plan.strategy: must be one of {', '.join(known)}, got {plan['strategy']!r}"]


def _fault(error: ErrorDetails) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    context: dict[str, Any] = error.get("ctx", {})
    rules = {
        "greater_than_equal": ("must be >= {}", "ge"),
        "greater_than": ("must be > {}", "gt"),
        "less_than_equal": ("must be <= {}", "le"),
        "literal_error": ("must be {}", "expected"),
    }
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"{path}: unknown key"
    if kind == "missing":
        return f"{path}: missing"
    if kind == "value_error":
        return f"{path}: {context['error']}"
    if kind in rules:
        text, key = rules[kind]
        return f"{path}: {text.format(context[key])}, got {error['input']!r}"
    sentence = error["msg"][0].lower() + error["msg"][1:]
    return f"{path}: {sentence}, got {error['input']!r}"
