"""The settings of the elastic loop are read from a file: all faults of a file in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from formats.toml_file import TomlError, read_toml
from provisioning.providers.settings import provider_faults
from provisioning.settings import ElasticSettings

if TYPE_CHECKING:
    from pathlib import Path


class ElasticSettingsError(ValueError):
    """Bad settings: one sentence that names the file and every bad key."""


def load_elastic_settings(path: Path) -> ElasticSettings:
    """Read a settings file.

    Raises:
        ElasticSettingsError: It cannot be read, is no TOML, or holds unknown keys or bad values (all named).
    """
    try:
        return ElasticSettings.model_validate(read_toml(path))
    except TomlError as error:
        raise ElasticSettingsError(str(error)) from error
    except ValidationError as error:
        raise ElasticSettingsError(f"{path}: {'; '.join(provider_faults(error))}") from error
