from __future__ import annotations

from lab.commands import agent
from lab.layout import lay_out
from lab.places import PROJECT_ROOT
from lab.sites import read_site_file
from monitoring.agent.agent_options import parse_ports


def test_an_agent_knows_its_host_site_and_slots() -> None:
    """An agent starts with what the supervisor of its host is: name, site, and the ports of its slots."""
    hosts = lay_out(read_site_file(PROJECT_ROOT / "lab/sites/demo.toml"))
    for host in (one for one in hosts if one.kind == "supervisor"):
        argv = agent(host).argv
        options = {option: argv[argv.index(option) + 1] for option in ("--host", "--site", "--slot-ports")}
        assert (options["--host"], options["--site"]) == (host.name, host.site)
        assert parse_ports(options["--slot-ports"]) == host.slot_ports == (6700, 6701)


def test_an_agent_measures_bandwidth_where_the_site_file_says_so() -> None:
    """With the share that the file states, and not without one."""
    sites = read_site_file(PROJECT_ROOT / "lab/sites/demo.toml")
    host = next(one for one in lay_out(sites) if one.kind == "supervisor")
    assert "--bandwidth-share" not in agent(host, sites.bandwidth_share).argv
    argv = agent(host, 0.05).argv
    assert argv[argv.index("--bandwidth-share") + 1] == "0.05"
