from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lab.emulator.narrow_links import NarrowLink
from lab.sites import narrow_links, read_site_file

if TYPE_CHECKING:
    from pathlib import Path


def test_uplinks_are_counted_and_links_are_there_where_they_are_limited(tmp_path: Path) -> None:
    path = tmp_path / "sites.toml"
    path.write_text(
        """
site = [
  { name = "a", supervisors = 1, slots = 1, services = true },
  { name = "b", supervisors = 1, slots = 1, uplink_bytes_per_s = 1000 },
  { name = "c", supervisors = 1, slots = 1 },
]
link = [
  { between = ["a", "b"], delay_ms = 1 },
  { between = ["c", "b"], delay_ms = 1, bandwidth_bytes_per_s = 500 },
  { between = ["a", "c"], delay_ms = 1 },
]
""",
        encoding="utf-8",
    )

    assert narrow_links(read_site_file(path)) == (
        NarrowLink("uplink of a", (0,), math.inf),
        NarrowLink("uplink of b", (1,), 1000),
        NarrowLink("uplink of c", (2,), math.inf),
        NarrowLink("c-b", (2, 1), 500),
    )
