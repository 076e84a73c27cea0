from __future__ import annotations

from collections import Counter
from dataclasses import replace

from lab.layout import hosts_file, lay_out
from lab.places import PROJECT_ROOT
from lab.sites import read_site_file


def test_hosts_have_distinct_names_and_addresses_and_all_resolve() -> None:
    """Every host of the largest shipped lab has its own name and address, and the hosts file knows it."""
    sites = read_site_file(PROJECT_ROOT / "lab/sites/table5.toml")
    hosts = lay_out(sites)
    assert len({host.name for host in hosts}) == len({host.address for host in hosts}) == 34
    lines = hosts_file(hosts).splitlines()
    assert lines[0] == "127.0.0.1 localhost"
    assert lines[1:] == [f"{host.address} {host.name}" for host in hosts]


def test_every_slot_has_a_port_of_its_own() -> None:
    """A supervisor has as many ports as slots, a host of services none."""
    sites = read_site_file(PROJECT_ROOT / "lab/sites/demo.toml")
    for host in lay_out(sites):
        assert host.slot_ports == ((6700, 6701) if host.kind == "supervisor" else ())


def test_redis_may_stand_at_a_site_of_its_own() -> None:
    """Nimbus stays at the services' site; hosts have the tier of their site."""
    sites = read_site_file(PROJECT_ROOT / "lab/sites/tiers.toml")
    hosts = lay_out(sites)
    services = {host.name: host.site for host in hosts if host.kind == "services"}
    assert services == {"nimbus": "cloud-a", "redis": "edge-a"}
    assert len({host.address for host in hosts}) == len(hosts)
    tiers = Counter(host.tier for host in hosts if host.kind == "supervisor")
    assert tiers == {"edge": 2, "fog": 3, "cloud": 6}


def test_services_live_at_the_services_site() -> None:
    """Nimbus and Redis stand at the one site with services, and every supervisor knows its site."""
    sites = read_site_file(PROJECT_ROOT / "lab/sites/demo.toml")
    hosts = lay_out(sites)
    assert {host.name: host.site for host in hosts if host.kind == "services"} == {
        "nimbus": "uniroma2",
        "redis": "uniroma2",
    }
    both = {host.name: host.site for host in lay_out(replace(sites, standby_nimbus=True))}
    assert both == {host.name: host.site for host in hosts} | {"standby": "uniroma2"}
    for host in hosts:
        assert sites.site[host.site_index].name == host.site
        if host.kind == "supervisor":
            assert host.name.rpartition("-")[0] == host.site
