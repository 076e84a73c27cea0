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
    key = ("active", "limited", "A")
    assert lasting.taken("active", report(0.0, limited, grown)) == ({key: "20 are needed"}, [])
    for now_s in (15.0, 30.0, 45.0):
        assert lasting.taken("active", report(now_s)) == ({}, [])
    again = replace(limited, why="21 are needed")
    assert lasting.taken("active", report(60.0, again)) == ({}, []), "its figures change"
    assert lasting.taken("active", report(180.0)) == ({}, [])
    assert lasting.taken("active", report(181.0)) == ({}, [key])
    assert lasting.taken("active", report(182.0, again)) == ({key: "21 are needed"}, [])


def test_each_mode_has_its_own() -> None:
    lasting, held = LastingReasons(), Reason("held", "A", "there is no reading")
    lasting.taken("active", report(0.0, held))
    begun, over = lasting.taken("advise", report(600.0, held))
    assert list(begun) == [("advise", "held", "A")]
    assert not over
    assert lasting.taken("active", replace(report(600.0), decision=None)) == ({}, []), "nothing was decided"
