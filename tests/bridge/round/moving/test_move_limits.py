"""When nothing moves for a gain, and what may restart in an hour."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.freeze_windows import FreezeWindow
from bridge.round.memory import NOTHING, Memory, memory_from_json
from bridge.round.planner import plan_round
from bridge.settings import Settings
from bridge.settings_file import SettingsError, load_settings, settings_from_json
from bridge.wire.messages import UNASSIGNED, Decision, Drain
from tests.bridge.round.planner_rounds import AT_ONCE, PINNED, SCATTERED, stopped

MONDAY_NOON = 1_795_435_200.0  # 2026-11-23, UTC
AT_HOME = [0, 0, 1, 1, 3, 2, 3, 2]  # source and sink where they are pinned to
WORKING_HOURS = (FreezeWindow(days=("mon",), begin="08:00", end="18:00"),)


def plan(request, unix_s=None, memory=NOTHING, now_s=0.0, **move):
    settings = Settings(move=AT_ONCE.model_copy(update=move))
    return plan_round(request, settings, stopped, memory=memory, now_s=now_s, unix_s=unix_s)


def taxi(make, placement, name="taxi-1", port=6701):
    return make.assigned(make.taxi(name, settings=PINNED), placement, port)


def test_no_gain_moves_anything_in_a_freeze_window(make):
    """Outside of it, and where the time is not known, it does."""
    request = make.cluster(taxi(make, SCATTERED))
    frozen = plan(request, MONDAY_NOON, freeze=WORKING_HOURS)
    (answer,) = frozen.response.plans
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: no moves for gains mon 08:00 to 18:00 UTC (move.freeze)")
    assert frozen.response.hold_ms is not None
    for unix_s in (MONDAY_NOON + 8 * 3600, None):
        assert plan(request, unix_s, freeze=WORKING_HOURS).moves > 0


def test_what_is_missing_or_drained_is_placed_in_a_freeze_window(make):
    """A topology that stands still is worse than a restart, and a drain is the operator's word."""
    missing = [*AT_HOME[:7], UNASSIGNED]
    topology = make.assigned(make.taxi(settings=PINNED), missing, [6701] * 7 + [UNASSIGNED])
    assert (
        plan(make.cluster(topology), MONDAY_NOON, freeze=WORKING_HOURS).response.plans[0].decision
        is Decision.ASSIGN
    )
    drain = Drain("site:europe-west1", b'{"version": 1, "lifetime_s": null}', 0)
    request = replace(make.cluster(taxi(make, AT_HOME)), drains=(drain,))
    assert plan(request, MONDAY_NOON, freeze=WORKING_HOURS).on_drained_hosts == 0


def test_what_rounds_restarted_within_the_hour_is_taken_off(make):
    """And comes back when the hour is over."""
    request = make.cluster(taxi(make, SCATTERED))
    done = plan(request, max_restarts_per_hour=8)
    assert done.memory.restarts == ((0.0, done.restarts),)
    assert 0 < done.restarts <= 8
    spent = replace(Memory(), restarts=((0.0, 8),))
    assert plan(request, memory=spent, now_s=3599.0, max_restarts_per_hour=8).restarts == 0
    again = plan(request, memory=spent, now_s=3600.0, max_restarts_per_hour=8)
    assert again.restarts > 0
    assert again.memory.restarts == ((3600.0, again.restarts),)


def test_without_an_hourly_budget_nothing_is_remembered(make):
    """The memory of a round that restarts is as it was."""
    assert plan(make.cluster(taxi(make, SCATTERED))).memory.restarts == ()


def test_the_memory_of_an_hour_survives_a_record():
    """Older records have none."""
    memory = Memory(restarts=((1.5, 3),))
    assert memory_from_json(memory.to_json()) == memory
    assert memory_from_json('{"topologies": []}').restarts == ()


def test_settings_come_from_the_file_and_survive_a_record(tmp_path):
    """As in the documentation."""
    file = tmp_path / "daemon.toml"
    file.write_text(
        "[move]\nmax_restarts_per_hour = 100\n"
        '[[move.freeze]]\ndays = ["mon", "fri"]\nbegin = "08:00"\nend = "18:00"\ntimezone = "Europe/Rome"\n'
    )
    settings = load_settings(file, ["auto"])
    assert settings.move.max_restarts_per_hour == 100
    assert [str(each) for each in settings.move.freeze] == ["mon, fri 08:00 to 18:00 Europe/Rome"]
    assert settings_from_json(settings.to_json()) == settings


@pytest.mark.parametrize(
    ("window", "reason"),
    [
        ('begin = "00:00"\nend = "24:00"', "move: freeze leaves no minute of the week for moves"),
        (
            'begin = "08:00"\nend = "08:00"',
            "move.freeze[0]: begins and ends at 08:00: is empty or never ends",
        ),
        (
            'begin = "08:00"\nend = "09:00"\ntimezone = "Rome"',
            "move.freeze[0].timezone: 'Rome' is no time zone",
        ),
    ],
)
def test_a_window_that_never_ends_is_refused(tmp_path, window, reason):
    """One sentence with the place."""
    file = tmp_path / "daemon.toml"
    file.write_text(f"[[move.freeze]]\n{window}\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(file, ["auto"])
    assert reason in str(caught.value)
