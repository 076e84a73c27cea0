"""Reasons that come again with each decision are logged when they begin and when they are over."""

from __future__ import annotations

from dataclasses import replace

from provisioning.lasting_reasons import LastingReasons
from provisioning.loop.report import Asked, Report
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.decision import LeasingDecision, Reason
from scheduler.elasticity.leasing.observation import Observation
from tests.scheduler.elasticity.leasing.example import OFFER, A


def report(now_s: float, *reasons: Reason) -> Report:
    parameters = SizedParameters(components=(A,), offer=OFFER)
    asked = Asked(Observation(now_s, (), ()), parameters, None)
    return Report(now_s, asked=asked, decision=LeasingDecision(reasons=reasons))


def test_a_reason_lasts_while_it_comes_again_with_decisions() -> None:
    """Executors are decided on once a minute, in one round of four."""
    lasting = LastingReasons()
    limited, grown = Reason("limited", "A", "20 are needed"), Reason("grown", "F", "10 come")
    key = ("active", "limited", "A", "")
    assert lasting.taken("active", report(0.0, limited, grown)) == ({key: "20 are needed"}, [])
    for now_s in (15.0, 30.0, 45.0):
        assert lasting.taken("active", report(now_s)) == ({}, [])
    again = replace(limited, why="21 are needed")
    assert lasting.taken("active", report(60.0, again)) == ({}, []), "its figures change"
    assert lasting.taken("active", report(180.0)) == ({}, [])
    assert lasting.taken("active", report(181.0)) == ({}, [key])
    assert lasting.taken("active", report(182.0, again)) == ({key: "21 are needed"}, [])


def test_what_is_held_is_named_if_it_lasts() -> None:
    """After each change readings are held for a while."""
    lasting, held = LastingReasons(), Reason("held", "A", "there is no reading")
    for now_s in (0.0, 60.0, 120.0):
        assert lasting.taken("active", report(now_s, held)) == ({}, [])
    assert lasting.taken("active", report(241.0)) == ({}, []), "it has not lasted"
    for now_s in (300.0, 360.0, 420.0):
        assert lasting.taken("active", report(now_s, held)) == ({}, [])
    key = ("active", "held", "A", "")
    assert lasting.taken("active", report(421.0, held)) == ({key: "there is no reading"}, [])
    assert lasting.taken("active", report(600.0)) == ({}, [key])


def test_reasons_of_other_causes_are_others() -> None:
    lasting = LastingReasons()
    boots, bound = Reason("limited", "A", "it waits"), Reason("limited", "A", "20 are needed", "bound")
    begun, _ = lasting.taken("active", report(0.0, boots, bound))
    assert list(begun) == [("active", "limited", "A", ""), ("active", "limited", "A", "bound")]


def test_each_mode_has_its_own_and_what_was_left_out_says_nothing() -> None:
    lasting, limited = LastingReasons(), Reason("limited", "words/A", "20 are needed")
    lasting.taken("active", report(0.0, limited))
    begun, over = lasting.taken("advise", report(600.0, limited))
    assert list(begun) == [("advise", "limited", "words/A", "")]
    assert not over
    assert lasting.taken("active", replace(report(600.0), decision=None)) == ({}, []), "nothing was decided"
    left_out = report(0.0, limited)
    assert left_out.asked is not None
    left_out = replace(left_out, asked=replace(left_out.asked, left_out=("words",)))
    assert LastingReasons().taken("active", left_out) == ({}, [])
