"""Commands that need the project's source tree, and their refusal where there is none."""

from __future__ import annotations

from cli.errors import UserError
from lab.places import PROJECT_ROOT

DATA = PROJECT_ROOT / "data" / "debs2015" / "debs2015_20day_head10004.csv.gz"
"""The taxi rows in the repository."""
_MARK = PROJECT_ROOT / "java-shim" / "pom.xml"
"""A file of the source tree that no wheel carries."""


def require_checkout(
    what: str, needs: str = "Storm and the shim's jar, which `make setup` builds there"
) -> None:
    """Refuse a command that runs from an installed wheel.

    Args:
        what: The command or option.
        needs: What it looks for in the source tree.

    Raises:
        UserError: This program does not run from a checkout of the project.
    """
    if not _MARK.is_file():
        raise UserError(f"{what}: works only from a checkout of Stormplace; it needs {needs}")
