"""Rules of the availability estimate."""

from __future__ import annotations

import pytest

from monitoring.agent.availability import HORIZON_S, PRIOR, Availability, History, add_time


def watched(seconds: int, *, answered: bool, start: History | None = None) -> Availability:
    """A host that sends a probe each second."""
    availability = Availability(0.0, start)
    for now_s in range(1, seconds + 1):
        availability.note_probe(float(now_s))
        if answered:
            availability.note_answer(now_s + 0.05)
        availability.look(now_s + 0.1)
    return availability


def test_a_host_without_a_past_has_the_prior() -> None:
    assert Availability(0.0).estimate() == PRIOR


def test_good_time_raises_and_bad_time_lowers_the_estimate() -> None:
    good = watched(3600, answered=True).estimate()
    bad = watched(3600, answered=False).estimate()
    assert bad < 0.6 < PRIOR < good < 1


def test_a_short_silence_is_not_an_outage() -> None:
    assert watched(9, answered=False).history.bad_s == 0


def test_silence_says_nothing_without_peers_to_ask() -> None:
    availability = Availability(0.0)
    availability.note_probe(0.0)
    availability.alone()
    for now_s in range(1, 100):
        availability.look(float(now_s))
    assert availability.history.bad_s == 0


def test_a_standstill_of_the_agent_counts_as_bad() -> None:
    availability = Availability(0.0)
    availability.look(1.0)
    availability.look(601.0)
    assert availability.history.bad_s == pytest.approx(600, rel=0.01)


def test_a_clock_that_goes_back_counts_for_nothing() -> None:
    availability = Availability(100.0)
    assert availability.look(50.0) == PRIOR


def test_the_past_fades_over_the_horizon() -> None:
    wounded = History(good_s=0.0, bad_s=3600.0)
    day = add_time(wounded, HORIZON_S, bad=False)
    assert day.bad_s == pytest.approx(3600 / 2.71828, rel=1e-4)
    assert add_time(wounded, 30 * HORIZON_S, bad=False).bad_s < 1e-6


def test_no_history_weighs_more_than_the_horizon() -> None:
    history = add_time(History(), 100 * HORIZON_S, bad=False)
    assert history.good_s == pytest.approx(HORIZON_S)
    assert history.bad_s == 0


def test_each_silence_is_one_outage_however_long_and_the_last_end_is_known() -> None:
    availability = Availability(0.0)
    for now_s in range(1, 400):
        availability.note_probe(float(now_s))
        if not 50 <= now_s < 100 and not 200 <= now_s < 220:
            availability.note_answer(now_s + 0.05)
        availability.look(now_s + 0.1)
    assert availability.history.outages == pytest.approx(2, rel=0.01)
    assert availability.history.since_outage_s == pytest.approx(180, abs=2)


def test_an_outage_that_goes_on_has_ended_no_time_ago() -> None:
    assert watched(60, answered=False).history.since_outage_s == 0.0
    assert watched(60, answered=True).history.since_outage_s is None


def test_while_a_peer_of_the_round_may_still_answer_silence_is_no_outage() -> None:
    availability = Availability(0.0)
    availability.note_probe(0.0)
    for now_s in range(1, 60):
        availability.look(float(now_s), others_silent=False)
    assert availability.history.bad_s == 0


def test_outages_fade_over_the_horizon() -> None:
    history = History(outages=4.0, since_outage_s=10.0).fade(HORIZON_S)
    assert history.outages == pytest.approx(4 / 2.71828, rel=1e-4)
    assert history.since_outage_s == 10.0 + HORIZON_S
