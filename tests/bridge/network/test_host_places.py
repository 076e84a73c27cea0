"""A host's tier is what its supervisor states, else its agent, else what the settings say of its site."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.network.cluster import gather_hosts
from bridge.readings.believed import read_nodes
from bridge.settings import Settings

FOG_AT_ROME = {"network": {"site": [{"name": "rome", "tier": "fog"}]}}


def located(make, *supervisors, readings=(), settings=FOG_AT_ROME):
    settings = Settings.model_validate(settings)
    request = replace(make.cluster(), supervisors=supervisors, readings=readings)
    believed = read_nodes(request, {each.host for each in supervisors}, settings.readings)
    return gather_hosts(request, settings, believed)


@pytest.mark.parametrize(
    ("stated", "said", "site", "tier"),
    [
        ("cloud", "cloud", "rome", "cloud"),
        ("cloud", None, "rome", "cloud"),
        (None, "edge", "rome", "edge"),
        (None, None, "rome", "fog"),
        (None, None, "oslo", None),
        (None, None, None, None),
    ],
)
def test_the_supervisor_counts_before_the_agent_and_both_before_the_site(make, stated, said, site, tier):
    """No guess where none of them says it."""
    meta = {"stormplace.tier": stated} if stated else {}
    reading = make.reading("a", site, 0.0, tier=said)
    hosts = located(make, make.supervisor("a", meta=meta), readings=(reading,))
    assert (hosts.hosts[0].tier, hosts.hosts[0].site, hosts.faults) == (tier, site, ())


def test_supervisor_and_agent_that_differ_are_named(make):
    """The settings speak of the whole site, which single hosts may differ from."""
    hosts = located(
        make,
        make.supervisor("a", meta={"stormplace.tier": "cloud", "stormplace.site": "rome"}),
        readings=(make.reading("a", "rome", 0.0, tier="edge"),),
    )
    assert hosts.hosts[0].tier == "cloud"
    assert hosts.faults == ("a is at tier cloud by its supervisor and at edge by its agent",)


@pytest.mark.parametrize("wrong", ["mars", "Edge", "", "edge "])
def test_a_tier_that_is_none_counts_as_not_given_and_is_named(make, wrong):
    """What comes after it counts; neither the reading nor other metadata is lost."""
    bad = make.supervisor("a", meta={"stormplace.tier": wrong, "stormplace.site": "rome"})
    hosts = located(make, bad, readings=(make.reading("a", None, 0.0, tier="edge"),))
    assert (hosts.hosts[0].tier, hosts.hosts[0].site) == ("edge", "rome")
    assert hosts.faults == (f"stormplace.tier of supervisor id-a is none of edge, fog, cloud ({wrong!r})",)
    hosts = located(make, make.supervisor("a"), readings=(make.reading("a", "rome", 0.0, tier=wrong),))
    assert (hosts.hosts[0].tier, hosts.hosts[0].site) == ("fog", "rome")
    assert hosts.faults == (f"tier of a by its agent is none of edge, fog, cloud ({wrong!r})",)


def test_of_several_supervisors_the_first_name_counts_and_the_contradiction_is_named(make):
    two = [make.supervisor("a", id=tier, meta={"stormplace.tier": tier}) for tier in ("fog", "cloud")]
    hosts = located(make, *two)
    assert (hosts.hosts[0].tier, hosts.faults) == (
        "cloud",
        ("supervisors of a name several tiers (cloud, fog)",),
    )


def test_the_tier_of_a_stale_reading_still_counts(make):
    """Measurements grow old, a host's tier does not."""
    stale = make.reading("a", "rome", 0.0, tier="edge", age_ms=60_000)
    assert located(make, make.supervisor("a"), readings=(stale,)).hosts[0].tier == "edge"


@pytest.mark.parametrize(
    ("meta", "other", "silent"),
    [
        ({}, {"tier": "edge"}, ("tier",)),
        ({}, {"site": "oslo"}, ("site",)),
        ({}, {"site": "rome"}, ("site", "tier")),
        ({"stormplace.tier": "edge"}, {"site": "rome"}, ("site",)),
        ({"stormplace.site": "rome"}, {"site": "rome", "tier": "edge"}, ()),
        ({}, {}, ()),
    ],
)
def test_a_host_without_a_reading_may_have_lost_what_others_publish(make, meta, other, silent):
    """Its tier also where that would follow from its site; nothing is lost that is known another way."""
    reading = make.reading("b", other.get("site"), 0.0, tier=other.get("tier"))
    hosts = located(make, make.supervisor("a", meta=meta), make.supervisor("b"), readings=(reading,))
    assert [host.silent for host in hosts.hosts] == [set(silent), set()]
