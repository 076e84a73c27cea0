from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from formats.site_file import SiteFileError, read_site_file

ROOT = Path(__file__).parents[2]

GOOD = """
[[site]]
name = "a"
supervisors = 2
slots = 2
services = true
[[site]]
name = "b"
supervisors = 1
slots = 1
[[link]]
between = ["b", "a"]
delay_ms = 7
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "sites.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_delays_are_symmetric_with_the_local_delay_on_the_diagonal(tmp_path: Path) -> None:
    """A link counts both ways, whichever site it names first."""
    sites = read_site_file(write(tmp_path, GOOD))
    assert sites.delays_ms() == [[0.25, 7.0], [7.0, 0.25]]


def test_a_site_that_a_link_names_twice_has_a_local_delay_of_its_own(tmp_path: Path) -> None:
    """It holds between two hosts of that site, in the place of the network's."""
    sites = read_site_file(write(tmp_path, GOOD + '[[link]]\nbetween = ["a", "a"]\ndelay_ms = 3\n'))
    assert sites.delays_ms() == [[3.0, 7.0], [7.0, 0.25]]


def test_loss_of_a_link_comes_on_top_of_that_of_all(tmp_path: Path) -> None:
    text = GOOD.replace("delay_ms = 7", "delay_ms = 7\nloss = 0.5") + "[network]\nloss = 0.2\n"
    (near, far), (back, _) = read_site_file(write(tmp_path, text)).loss()
    assert near == pytest.approx(0.2)
    assert far == back == pytest.approx(0.6)


def test_what_a_host_has_of_its_own_is_found_by_its_name(tmp_path: Path) -> None:
    """Other hosts have joined from the start, and nothing of their own."""
    own = '[[host]]\nname = "a-2"\njoined = false\nmeta = { "stormplace.cost" = "2.5" }\n'
    sites = read_site_file(write(tmp_path, GOOD + own))
    assert (sites.own("a-2").joined, sites.own("a-2").meta) == (False, {"stormplace.cost": "2.5"})
    assert (sites.own("a-1").joined, sites.own("a-1").meta, sites.own("a-1").storm) == (True, {}, {})


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("supervisors = 2", "supervisors = 0", "site[0].supervisors: "),
        ("supervisors = 2", "supervisors = true", "site[0].supervisors: "),
        ("slots = 1", 'slots = "one"', "site[1].slots: "),
        ('name = "a"', 'name = "A site"', "site[0].name: "),
        ("slots = 1", "", "site[1].slots: "),
        ("slots = 1", "slots = 1\nslotz = 2", "site[1].slotz: no such key"),
        ("[[link]]", "[nets]\nx = 1\n[[link]]", "nets: no such key"),
        ("[[site]]", "executors_per_host = 0\n[[site]]", "executors_per_host: "),
        (
            "[[site]]",
            "bandwidth_share = 0.2\n[[site]]",
            "bandwidth_share: expected a number from 0.002 to 0.1",
        ),
        (
            '\n[[site]]\nname = "a"',
            '\nstandby_nimbus = 1\n[[site]]\nname = "a"',
            "standby_nimbus: expected true",
        ),
        ("[[link]]", "[storm]\nx = [1]\n[[link]]", "storm: expected a table"),
        ("[[link]]", "[network]\nseed = 1.5\n[[link]]", "network.seed: "),
        ("delay_ms = 7", "delay_ms = -7", "link[0].delay_ms: "),
        ("delay_ms = 7", "delay_ms = nan", "link[0].delay_ms: "),
        (
            "delay_ms = 7",
            "delay_ms = 7\nbandwidth_bytes_per_s = 0",
            "link[0].bandwidth_bytes_per_s: expected",
        ),
        ("delay_ms = 7", "delay_ms = 7\nloss = 1", "link[0].loss: expected a number from 0 to less than 1"),
        ("slots = 1", "slots = 1\nuplink_bytes_per_s = -5", "site[1].uplink_bytes_per_s: expected"),
        ("[[link]]", "[network]\nqueue_ms = 0\n[[link]]", "network.queue_ms: expected"),
        ('["b", "a"]', '["b"]', "link[0].between: "),
        ('["b", "a"]', '["b", "c"]', "link[0].between: no site is named 'c'"),
        ("[[link]]", "[daemon]\nport = 1\n[[link]]", "daemon: expected tables"),
        ("[[link]]", '[[host]]\nname = "a-3"\n[[link]]', "host: no supervisor host is named 'a-3'"),
        ("[[link]]", '[[host]]\nname = "b-1"\n[[host]]\nname = "b-1"\n[[link]]', "host: 2 tables"),
        ("[[link]]", '[[host]]\nname = "b-1"\nmeta = { x = 1 }\n[[link]]', "host[0].meta: expected a table"),
        ("[[link]]", '[[host]]\nname = "b-1"\njoined = "no"\n[[link]]', "host[0].joined: expected true"),
        ('name = "b"', 'name = "a"', "site: 2 sites are named 'a'"),
        ("services = true", "", "site: exactly one site must have services = true, not 0"),
        ("slots = 1", "slots = 1\nservices = true", "services = true, not 2"),
        ("[[link]]", "[network]\nloss = 1.0\n[[link]]", "network.loss: "),
        ("[[link]]", "[network]\njitter_ms = -1.0\n[[link]]", "network.jitter_ms: "),
        ('[[link]]\nbetween = ["b", "a"]\ndelay_ms = 7', "", "the delay between 'a' and 'b' is missing"),
        ("slots = 1", "slots =", "is no TOML: "),
    ],
)
def test_a_fault_is_named_with_file_and_key_path(tmp_path: Path, old: str, new: str, place: str) -> None:
    """Each fault of a site file is refused in one line that names the file and the key."""
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(SiteFileError) as caught:
        read_site_file(path)
    message = str(caught.value)
    assert place in message
    assert str(path) in message


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    """A file is repaired in one go."""
    text = GOOD.replace("supervisors = 2", "supervisors = -2").replace("delay_ms = 7", 'delay_ms = "x"')
    with pytest.raises(SiteFileError, match=r"site\[0\]\.supervisors: .*; link\[0\]\.delay_ms: "):
        read_site_file(write(tmp_path, text))


def test_a_pair_given_twice_is_refused(tmp_path: Path) -> None:
    """Two delays for one pair would leave it open which one holds."""
    text = GOOD + '[[link]]\nbetween = ["a", "b"]\ndelay_ms = 8\n'
    with pytest.raises(SiteFileError, match=r"link\[1\]\.between: this pair is already given by link\[0\]"):
        read_site_file(write(tmp_path, text))


def test_an_absent_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """A wrong path is no traceback."""
    with pytest.raises(SiteFileError, match="No such file"):
        read_site_file(tmp_path / "absent.toml")


@pytest.mark.parametrize(("name", "sites", "supervisors"), [("demo", 3, 7), ("table5", 7, 32)])
def test_shipped_site_files_agree(name: str, sites: int, supervisors: int) -> None:
    """The shipped files are valid, have the stated size, and give one delay for each pair in all of them."""
    path = ROOT / f"lab/sites/{name}.toml"
    read = read_site_file(path)
    assert len(read.site) == sites
    assert sum(site.supervisors for site in read.site) == supervisors
    table5 = tomllib.loads((ROOT / "lab/sites/table5.toml").read_text(encoding="utf-8"))
    known = {frozenset(link["between"]): link["delay_ms"] for link in table5["link"]}
    assert all(known[frozenset(link.between)] == link.delay_ms for link in read.link)
