"""The site file of a lab, as reports and predictions read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats import site_file
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def read_sites(path: Path) -> site_file.SiteFile:
    """Read a site file.

    Raises:
        DataError: The file cannot be read or holds errors; all of them are named with their key paths.
    """
    try:
        return site_file.read_site_file(path)
    except site_file.SiteFileError as error:
        raise DataError(str(error)) from None
