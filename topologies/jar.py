"""The file that Storm unpacks for the workers of any topology here."""

from __future__ import annotations

import zipfile
from pathlib import Path

import topologies


def write_jar(path: Path) -> None:
    """Write this package below `resources/`, from where workers run components.

    Storm copies entries whose name begins with `resources/`; a plain zip without a manifest will do.
    """
    package = Path(topologies.__file__).parent
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for source in sorted(package.rglob("*.py")):
            jar.write(source, Path("resources") / package.name / source.relative_to(package))
