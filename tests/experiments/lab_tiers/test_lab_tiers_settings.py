"""Settings that cannot be run are refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.errors import ExperimentError
from experiments.lab_tiers.variants import HEEDING, OURS
from tests.experiments.lab_tiers.made import SITES, settings


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (', tier = "fog", unit_cost', ", unit_cost", "fog-a needs tier and unit_cost"),
        (", unit_cost = 0.24 }", " }", "cloud-b needs tier and unit_cost"),
        ('tier = "fog"', 'tier = "edge"', "no site is of the tier fog"),
        ("delay_ms = 20.0, cost = 200", "delay_ms = 20.0", "the link cloud-a - cloud-b needs cost"),
        (", uplink_bytes_per_s = 125000, redis", ", redis", "edge-a needs uplink_bytes_per_s"),
    ],
)
def test_a_site_file_states_tiers_costs_and_a_narrow_uplink(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "sites.toml"
    path.write_text(SITES.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ExperimentError, match=message):
        settings(tmp_path / "rows.csv", sites=path).site_file  # noqa: B018 - reading it is what fails


def test_rows_that_are_not_first_come_at_the_rate_of_the_variant() -> None:
    """What is cut off of them lasts as long at every rate."""
    asked = settings(Path("rows.csv"))
    assert (asked.warm_up_rows(OURS), asked.measured_rows(OURS, 100)) == (20, 60)
    assert (asked.warm_up_rows(HEEDING), asked.measured_rows(HEEDING, 100)) == (50, 30)


def test_too_few_rows_are_refused() -> None:
    asked = settings(Path("rows.csv"))
    with pytest.raises(ExperimentError, match=r"of the 75 rows of rows\.csv 5 are left"):
        asked.measured_rows(HEEDING, 75)


def test_how_long_the_lab_rests_may_change_within_a_folder(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    data.touch()
    assert settings(data).document() == settings(data, settle_s=60.0).document()
    assert settings(data).document() != settings(data, overload_rate=300.0).document()
