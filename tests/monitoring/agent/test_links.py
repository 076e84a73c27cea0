"""Rules of what is published about links."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitoring.agent.availability import PRIOR
from monitoring.agent.latency_filter import LatencyFilter
from monitoring.agent.links import Links


class Prober:
    """Probes one peer after another; every probe is answered or given up 3 s later."""

    def __init__(self) -> None:
        self.delays = LatencyFilter()
        self.links = Links(self.delays)

    def restarted(self, now_s: float, later_s: float) -> Prober:
        """The next run of the agent, on a clock of its own, some time later."""
        after = Prober()
        before = {peer: link.age(later_s) for peer, link in self.links.memory(now_s).items()}
        after.links.restore(before, 0.0)
        return after

    def answered(self, now_s: float, peer: str = "b", delay_ms: float = 20.0) -> None:
        self.delays.add(peer, now_s, delay_ms)
        self.links.note_answer(peer, now_s)

    def lost(self, now_s: float, peer: str = "b") -> int:
        return self.links.lost(peer, now_s, now_s + 3)


def watched(seconds: int, step_s: int = 8) -> Prober:
    prober = Prober()
    for now_s in range(0, seconds, step_s):
        prober.answered(now_s)
    return prober


def test_a_link_has_the_filtered_delay_with_age_and_number_of_samples() -> None:
    prober = Prober()
    for number, delay_ms in enumerate((22.0, 23.0, 80.0)):
        prober.answered(number, delay_ms=delay_ms)
    link = prober.links.choose(5.5, ())["b"]
    assert (link.delay_ms, link.age_s, link.samples, link.loss) == (22.0, 3.5, 3, 0.0)
    assert link.availability == pytest.approx(PRIOR, abs=1e-4)


def test_a_link_says_how_old_the_last_answer_is_that_agreed_with_its_delay() -> None:
    prober = Prober()
    for number, delay_ms in enumerate((22.0, 22.0, 22.0, 66.0)):
        prober.answered(number, delay_ms=delay_ms)
    link = prober.links.choose(5.5, ())["b"]
    assert (link.delay_ms, link.age_s, link.delay_age_s) == (22.0, 2.5, 3.5)


def test_samples_that_are_too_old_when_a_link_is_published_do_not_count() -> None:
    prober = Prober()
    prober.answered(0.0, delay_ms=20.0)
    prober.answered(110.0, delay_ms=60.0)
    link = prober.links.choose(125.0, ())["b"]
    assert (link.delay_ms, link.samples, link.delay_age_s) == (60.0, 1, 15.0)


def test_a_link_whose_probe_was_never_answered_is_not_published() -> None:
    prober = Prober()
    prober.lost(0.0)
    assert prober.links.choose(4.0, ()) == {}


def test_loss_is_the_share_of_unanswered_probes_and_fades() -> None:
    prober = Prober()
    for now_s in range(20):
        prober.answered(now_s) if now_s % 4 else prober.lost(now_s)
    assert prober.links.choose(20.0, ())["b"].loss == pytest.approx(0.25, abs=0.03)
    for now_s in range(20, 20 + 1800, 8):
        prober.answered(now_s)
    assert prober.links.choose(1820.0, ())["b"].loss < 0.01


def test_loss_alone_does_not_make_a_link_unavailable() -> None:
    prober = Prober()
    for now_s in range(0, 3600, 8):
        prober.answered(now_s) if now_s % 24 else prober.lost(now_s)
    assert prober.links.choose(3600.0, ())["b"].availability >= PRIOR


def test_a_silence_of_several_probes_counts_as_a_cut_from_its_first_probe_on() -> None:
    prober = watched(3600)
    before = prober.links.choose(3600.0, ())["b"].availability
    for now_s in range(3601, 3661, 8):
        prober.lost(now_s)
    during = prober.links.choose(3661.0, ())["b"].availability
    for now_s in range(3665, 3901, 8):
        prober.lost(now_s)
    prober.answered(3901.0)
    after = prober.links.choose(3901.0, ())["b"].availability
    assert before > PRIOR
    assert during == pytest.approx(1 - 60 / 7260, abs=2e-3)
    assert after == pytest.approx(1 - 300 / 7500, abs=2e-3)


@pytest.mark.parametrize("passed_s", [600.0, 3000.0])
def test_a_silence_speaks_for_a_minute_after_its_last_probe(passed_s: float) -> None:
    prober = watched(3600)
    for now_s in (3601.0, 3609.0, 3617.0):
        prober.lost(now_s)
    prober.answered(3617.0 + passed_s)  # it was not probed in between
    after = prober.links.choose(3617.0 + passed_s, ())["b"].availability
    assert after == pytest.approx(1 - 76 / 7276, abs=1e-3)


def test_an_excused_silence_costs_the_link_nothing() -> None:
    prober = watched(3600)
    before = prober.links.choose(3600.0, ())["b"]
    for number in range(40):
        prober.lost(3601.0 + number)
    prober.links.excuse("b")
    prober.answered(3901.0)
    after = prober.links.choose(3901.0, ())["b"]
    assert after.availability == before.availability
    assert after.loss < 0.01


def test_time_without_probes_says_little() -> None:
    prober = Prober()
    prober.answered(0.0)
    prober.answered(86_400.0)
    once = prober.links.choose(86_400.0, ())["b"].availability
    assert PRIOR < once < 0.9991


def test_links_without_an_answer_for_two_minutes_are_left_out() -> None:
    prober = Prober()
    prober.answered(0.0)
    assert set(prober.links.choose(120.0, ())) == {"b"}
    assert prober.links.choose(120.1, ()) == {}


def test_at_most_32_links_are_published_partners_first_and_then_the_freshest() -> None:
    prober = Prober()
    for number in range(60):
        prober.answered(float(number), peer=f"p{number:02d}")
    links = prober.links.choose(60.0, {"p00", "p01", "unknown"})
    assert set(links) == {"p00", "p01"} | {f"p{number:02d}" for number in range(30, 60)}
    assert list(links) == sorted(links)


def test_a_link_that_is_not_probed_any_more_is_forgotten_after_an_hour() -> None:
    prober = Prober()
    prober.answered(0.0)
    prober.links.choose(3600.0, ())
    assert prober.links.is_probed("b")
    prober.links.choose(3601.0, ())
    assert not prober.links.is_probed("b")


def test_a_restart_leaves_a_link_as_it_was_but_older() -> None:
    prober = watched(3600)
    prober.lost(3596.0)
    before = prober.links.choose(3600.0, ())["b"]
    after = prober.restarted(3600.0, 20.0).links.choose(0.0, ())["b"]
    assert before.availability > PRIOR
    assert after == replace(before, age_s=before.age_s + 20, delay_age_s=before.delay_age_s + 20)


def test_after_a_restart_a_link_goes_on_from_its_record() -> None:
    prober = watched(3600)
    for now_s in range(3600, 3900, 8):
        prober.lost(now_s)
    prober.answered(3900.0)
    after = prober.restarted(3900.0, 20.0)
    after.answered(8.0, delay_ms=30.0)
    link = after.links.choose(8.0, ())["b"]
    assert (link.delay_ms, link.samples) == (20.0, 2)
    assert link.availability == pytest.approx(1 - 300 / 7530, abs=2e-3)


def test_a_silence_that_a_restart_interrupts_counts_against_no_link() -> None:
    prober = watched(3600)
    before = prober.links.choose(3600.0, ())["b"]
    for now_s in (3600.0, 3608.0, 3616.0):
        prober.lost(now_s)
    after = prober.restarted(3700.0, 20.0)
    assert after.links.choose(0.0, ()) == {}
    after.answered(8.0)
    link = after.links.choose(8.0, ())["b"]
    assert link.availability == before.availability
    assert link.loss < 0.01


def test_what_is_too_old_after_a_restart_is_dropped() -> None:
    prober = watched(3600)
    late = prober.restarted(3600.0, 120.0)
    assert late.links.choose(0.0, ()) == {}
    assert late.delays.look("b", 0.0) is None
    assert set(late.links.memory(0.0)) == {"b"}
    assert prober.links.memory(3800.0)["b"].samples == ()
    assert prober.restarted(3600.0, 3600.0).links.memory(0.0) == {}


def test_a_link_that_was_not_probed_since_the_restart_does_not_count_as_probed() -> None:
    after = watched(60).restarted(60.0, 1.0)
    assert not after.links.is_probed("b")
    assert after.links.unprobed() == ("b",)
    after.lost(2.0)
    assert after.links.is_probed("b")
    assert after.links.unprobed() == ()
