"""The daemon's settings are read from a file: all faults of a file in one sentence, each with its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bridge.faults import phrases
from bridge.settings import Settings
from formats.toml_file import TomlError, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


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
        data = read_toml(path)
    except TomlError as error:
        raise SettingsError(str(error)) from error
    faults: list[str] = []
    settings = Settings()
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        faults.extend(phrases(error))
    faults.extend(_strategy_faults(data, known_strategies))
    if faults:
        raise SettingsError(f"{path}: " + "; ".join(faults))
    return settings


def settings_from_json(text: str) -> Settings:
    """The inverse of `Settings.to_json`, for records.

    Raises:
        SettingsError: The text is no dump of this version's settings.
    """
    try:
        return Settings.model_validate_json(text)
    except ValidationError as error:
        raise SettingsError("; ".join(phrases(error))) from error


def _strategy_faults(data: dict[str, Any], known_strategies: Iterable[str]) -> list[str]:
    # Judged on the raw data so that one sentence names it with all other faults.
    plan = data.get("plan")
    if not isinstance(plan, dict) or not isinstance(plan.get("strategy"), str):
        return []
    known = sorted(known_strategies)
    if plan["strategy"] in known:
        return []
    return [f"plan.strategy: must be one of {', '.join(known)}, got {plan['strategy']!r}"]
