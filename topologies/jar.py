"""The file that Storm unpacks for the workers of any topology here."""

from __future__ import annotations

import zipfile
from pathlib import Path

import formats
import topologies


def write_jar(path: Path) -> None:
    """Write this package, and that of formats which it shares, below `resources/`, where components run.

    Storm copies entries whose name begins with `resources/`; a plain zip without a manifest will do.
    """
    packages = [Path(str(each.__file__)).parent for each in (formats, topologies)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for package in packages:
            for source in sorted(package.rglob("*.py")):
                jar.write(source, Path("resources") / package.name / source.relative_to(package))
