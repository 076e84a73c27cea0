"""`stormplace network` on files: what it shows, that it can read itself again, and how it refuses."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import zlib
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from bridge.network_settings import NetworkSettings
from bridge.record.record import RecordWriter, RoundRecord
from bridge.settings import Settings
from bridge.wire.contract import VERSION
from bridge.wire.encoding import encode_request
from bridge.wire.messages import PlanRequest, Reading, ReadingKind, Supervisor
from cli.errors import UserError
from cli.main import main
from cli.network import network_live
from cli.network.network_input import entry
from experiments.reports import network_map
from formats.nimbus import NimbusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

    from formats.address import Address

    Network = Callable[..., tuple[int, str, str]]

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def network(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Network:
    """Run `stormplace network ...` in this process; returns status, standard output and standard error."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["stormplace", "network", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as caught:
            main()
        output = capsys.readouterr()
        return int(caught.value.code or 0), output.out, output.err

    return run


def content(host: str, x: float, /, **changes: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "time": 1000.0,
        "sequence": 1,
        "lifetime_s": 30.0,
        "host": host,
        "site": f"site-{host[0]}",
        "coordinate": [x, 0.0, 0.0],
        "height": 0.5,
        "error": 0.08,
        "availability": 0.99,
        **changes,
    }


def two_sites() -> list[dict[str, Any]]:
    links = {"b-1": {"delay_ms": 20.0, "age_s": 2.0}}
    return [content("a-1", 0.0, links=links), content("a-2", 0.0, time=960.0), content("b-1", 19.0)]


@pytest.fixture
def readings(tmp_path: Path) -> Path:
    file = tmp_path / "readings.json"
    file.write_text(json.dumps(two_sites()))
    return file


def test_delays_hosts_and_faults_are_shown(network: Network, readings: Path) -> None:
    """The measured delay with its source, the host that is 40 s behind as stale, and the verdict."""
    status, out, _ = network("--readings", readings)
    assert status == 0
    assert "20.0 m 1/2" in out
    assert "is stale" in out
    assert "off by 0.0 % (median of 1 pairs with a direct link; limit 30 %): they are used" in out
    assert "Hosts without agent: not known" in out
    assert "Sites and tiers: as agents report them" in out


def test_tiers_have_a_column_where_a_host_has_one(network: Network, readings: Path, tmp_path: Path) -> None:
    """As agents say, else as the daemon's settings say of the site; what no one says is no tier."""
    config = tmp_path / "daemon.toml"
    config.write_text('[[network.site]]\nname = "site-b"\ntier = "fog"')
    assert " tier " not in network("--readings", readings)[1]
    hosts = [content("a-1", 0.0, tier="edge"), content("b-1", 19.0), content("c-1", 9.0, tier="mist")]
    readings.write_text(json.dumps(hosts))
    _, out, _ = network("--readings", readings, "--config", config)
    rows = [line.split() for line in out.splitlines()]
    assert {row[1]: row[5] for row in rows if "-1" in "".join(row[1:2])} == {
        "a-1": "edge",
        "b-1": "fog",
        "c-1": "-",
    }
    assert "tier of c-1 by its agent is none of edge, fog, cloud ('mist')" in out
    _, shown, _ = network("--readings", readings, "--config", config, "--json")
    assert [each["tier"] for each in json.loads(shown)["hosts"]] == ["edge", "fog", None]


def test_control_characters_in_names_are_shown_and_not_obeyed(network: Network, readings: Path) -> None:
    """Whoever may write to ZooKeeper names hosts and sites."""
    hosts = [content("a-1", 0.0, site="s\x1b[2J"), content("b\x1b[31m-1", 9.0, time=900.0)]
    readings.write_text(json.dumps(hosts))
    _, out, _ = network("--readings", readings)
    assert r"s\x1b[2J (1)" in out
    assert r"Stale readings: 1 (b\x1b[31m-1)" in out
    assert "\x1b" not in out


def test_agents_without_supervisor_stand_apart(network: Network, readings: Path) -> None:
    """In a table of their own, and in no delay; those of supervisors alone are hosts."""
    entries = [{"name": each["host"], "age_s": 3.5, "content": each} for each in two_sites()]
    readings.write_text(json.dumps({"readings": entries, "supervisors": ["a-1", "a-2"]}))
    _, out, _ = network("--readings", readings)
    hosts, strangers = out.split("Agents without supervisor, which the planner leaves aside")
    assert "b-1" not in hosts
    assert "Agents without supervisor: 1 (b-1)" in strangers
    assert ": 2 hosts; readings: 2 believed" in strangers
    assert "site-b (1)" not in out


def test_the_json_answer_can_be_looked_at_again(network: Network, readings: Path, tmp_path: Path) -> None:
    """With the same ages, hence the same answer; content that is no JSON stays as it is."""
    entries = [{"name": each["host"], "age_s": 3.5, "content": each} for each in two_sites()]
    entries.append({"name": "c-1", "age_s": 1.0, "content": "no JSON at all"})
    readings.write_text(json.dumps({"readings": entries, "supervisors": ["a-1", "d-1"]}))
    status, first, _ = network("--readings", readings, "--json")
    answer = json.loads(first)
    assert status == 0
    assert answer["without_agent"] == ["d-1"]
    assert {each["host"]: each["reading"] for each in answer["hosts"]} == {"a-1": "believed", "d-1": "absent"}
    assert {each["host"]: each["reading"] for each in answer["strangers"]} == {
        "a-2": "believed",
        "b-1": "believed",
        "c-1": "refused",
    }
    again = tmp_path / "again.json"
    again.write_text(first)
    _, second, _ = network("--readings", again, "--json")
    assert json.loads(second) == answer | {"origin": str(again)}


def test_a_packed_reading_is_handed_on_as_its_fields() -> None:
    """As ZooKeeper holds a large one; bytes that cannot be unpacked stay what they are."""
    fields = content("a-1", 0.0)
    packed = zlib.compress(json.dumps(fields).encode())
    assert entry(Reading(ReadingKind.NODE, "a-1", packed, 3500))["content"] == fields
    cut = entry(Reading(ReadingKind.NODE, "a-1", packed[:-1], 3500))["content"]
    assert cut == packed[:-1].decode(errors="replace")


def test_the_last_recorded_round_is_shown_under_its_own_settings(network: Network, tmp_path: Path) -> None:
    """Its supervisors are known; its limit of the embedding error counts, unless --config says otherwise."""
    settings = Settings(network=NetworkSettings(max_embedding_error=0.125))
    writer = RecordWriter(tmp_path / "record", max_bytes=100_000, files=2)
    for number, hosts in enumerate((["a-1"], ["a-1", "b-1"])):
        request = PlanRequest(
            version=VERSION,
            round_id=f"round-{number}",
            deadline_ms=1000,
            supervisors=tuple(Supervisor(each, each, (6700,), True, False, 0.0, 0.0, {}) for each in hosts),
            topologies=(),
            readings=(Reading(ReadingKind.NODE, "a-1", json.dumps(content("a-1", 0.0)).encode(), 100),),
            readings_live=False,
        )
        writer.append(
            RoundRecord(
                encode_request(request), b"", settings.to_json(), settings.digest(), 0.0, {}, False, {}
            )
        )
    status, out, _ = network("--readings", tmp_path / "record")
    assert status == 0
    assert "round round-1" in out
    assert "Hosts without agent: 1 (b-1)" in out
    assert "no connection to ZooKeeper" in out
    assert "as agents report them" not in out
    _, out, _ = network("--readings", tmp_path / "record", "--json")
    assert json.loads(out)["embedding"]["max_error"] == 0.125
    config = tmp_path / "daemon.toml"
    config.write_text("[network]\nmax_embedding_error = 0.5\n")
    _, out, _ = network("--readings", tmp_path / "record", "--json", "--config", config)
    assert json.loads(out)["embedding"]["max_error"] == 0.5


def test_of_many_hosts_and_sites_the_worst_and_largest_are_shown(network: Network, readings: Path) -> None:
    """Forty of 60 hosts, 16 of 60 sites, in tables as wide as the terminal; --all shows every one."""
    hosts = [content(f"h-{n:02d}", float(n), site=f"s-{n:02d}", error=n / 200) for n in range(60)]
    readings.write_text(json.dumps(hosts))
    _, out, _ = network("--readings", readings)
    assert "the worst 40 of 60" in out
    assert "the 16 largest of 60 sites" in out
    assert ("h-59" in out, "h-20" in out, "h-19" in out) == (True, True, False)
    assert max(map(len, out.splitlines())) <= 200
    _, out, _ = network("--readings", readings, "--all")
    assert "h-00" in out
    assert "s-59" in out.split("Hosts")[0]


@pytest.mark.parametrize("hosts", [two_sites(), [content("a-1", 0.0)], [content("a-1", 0.0, error=1.5)]])
def test_a_map_is_drawn_whatever_is_known(
    network: Network, readings: Path, tmp_path: Path, hosts: list[dict[str, Any]]
) -> None:
    """Two sites, a single host, or no coordinate at all."""
    readings.write_text(json.dumps(hosts))
    status, _, _ = network("--readings", readings, "--plot", tmp_path / "map.png")
    assert status == 0
    assert (tmp_path / "map.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("height_ms", "legend"),
    [
        (0.5, "delay = distance + both heights; heights, up to 0.5 ms, are smaller than the dots"),
        (9.0, "radius: its height; delay = distance + both heights"),
    ],
)
def test_the_map_says_what_it_shows_and_explains_circles_only_where_they_can_be_seen(
    network: Network, readings: Path, monkeypatch: pytest.MonkeyPatch, height_ms: float, legend: str
) -> None:
    """And one that is wider than high leaves no more room above than the other plot needs."""
    drawn: list[Figure] = []
    draw = network_map.draw_network
    monkeypatch.setattr(network_map, "draw_network", lambda *given: drawn.append(draw(*given)))
    readings.write_text(
        json.dumps([content(f"{x}-1", 50.0 * n, height=height_ms) for n, x in enumerate("abc")])
    )
    assert network("--readings", readings, "--plot", readings.with_name("map.png"))[0] == 0
    (figure,) = drawn
    (title,) = [text.get_text() for text in figure.texts]
    shown = figure.axes[0].get_legend()
    assert title == f"The network as its agents measure it: {readings}"
    assert shown is not None
    assert [text.get_text() for text in shown.get_texts()] == ["host", legend]
    assert figure.get_figwidth() > 2 * figure.get_figheight()


@pytest.mark.parametrize(
    ("text", "status", "sentence"),
    [
        ("[]", 3, "holds no reading of a host"),
        ('{"readings": []}', 3, "holds no reading of a host"),
        ("nonsense", 2, "not JSON: Expecting value (line 1, column 1)"),
        ('[{"host": "a"}]', 2, "[0].time: missing"),
        (
            '{"readings": [{"name": "a", "age_s": -1, "content": {}}]}',
            2,
            "readings[0].age_s: must be >= 0.0, got -1",
        ),
        ('{"a": 1}', 2, "readings: missing"),
        (
            gzip.compress(b"{}\n", mtime=0),
            2,
            "line 1: field 'record_version' is missing or of the wrong type",
        ),
    ],
)
def test_a_bad_file_is_one_sentence_with_the_place(
    network: Network, readings: Path, text: str | bytes, status: int, sentence: str
) -> None:
    """Nothing else is printed."""
    readings.write_bytes(text if isinstance(text, bytes) else text.encode())
    found, out, errors = network("--readings", readings)
    assert (found, out, len(errors.splitlines())) == (status, "", 1)
    assert errors.startswith(f"stormplace: {readings}")
    assert sentence in errors


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "exactly one of --zookeeper and --readings is needed"),
        (["--readings", "x", "--zookeeper", "h:1"], "exactly one of --zookeeper and --readings is needed"),
        (["--readings", "x", "--nimbus", "h:1"], "--nimbus: "),
        (["--readings", "absent.json"], "absent.json: No such file or directory"),
        (["--zookeeper", "h"], "--zookeeper: 'h' is not HOST:PORT"),
        (["--zookeeper", "h:1", "--nimbus", "h:99999"], "--nimbus: 'h:99999' is not HOST:PORT"),
        (["--zookeeper", "h:1", "--root", "x"], "--root: 'x' is not a path"),
        (["--readings", "x", "--plot", "absent/x.png"], "--plot absent/x.png: there is no such folder"),
        (
            ["--zookeeper", "h:1", "--zookeeper-auth-file", "absent"],
            "--zookeeper-auth-file 'absent' cannot be",
        ),
    ],
)
def test_bad_options_are_refused_before_anything_is_asked(
    network: Network, arguments: list[str], sentence: str
) -> None:
    """One sentence that names the option."""
    status, out, errors = network(*arguments)
    assert (status, out, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith(f"stormplace: {sentence}")


@contextmanager
def nimbus(address: Address) -> Iterator[Any]:
    """A Nimbus that answers on one port and is dead on all others."""
    if address.port != 2:
        raise NimbusError(f"Nimbus {address} cannot be reached")
    hosts = [SimpleNamespace(host=name) for name in ("b-1", "a-1", "b-1")]
    yield SimpleNamespace(getClusterInfo=lambda: SimpleNamespace(supervisors=hosts))


def test_the_first_nimbus_that_answers_names_the_hosts_of_supervisors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each host once; if none answers, one sentence names all."""
    monkeypatch.setattr(network_live, "connect", nimbus)
    assert network_live.supervisor_hosts("x:1,y:2,z:3") == ("a-1", "b-1")
    with pytest.raises(UserError, match=r"^Nimbus x:1 cannot be reached; Nimbus z:3 cannot be reached$"):
        network_live.supervisor_hosts("x:1,z:3")


def test_names_that_are_unknown_are_refused_before_zookeeper_is_asked(
    stormplace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of several that is known is enough."""

    def resolve(host: str, *_: object, **__: object) -> list[object]:
        if host.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return []

    def connect(**_: object) -> None:
        raise UserError("asked")

    monkeypatch.setattr("cli.network.network_live.socket.getaddrinfo", resolve)
    monkeypatch.setattr("cli.network.network_live.KazooClient", connect)
    unknown = "stormplace: --zookeeper {0}: no address is known for {1}\n"
    for text, names in (("x.invalid:1", "x.invalid"), ("x.invalid:1,y.invalid:2", "x.invalid, y.invalid")):
        assert stormplace("network", "--zookeeper", text) == (2, "", unknown.format(text, names))
    assert stormplace("network", "--zookeeper", "x.invalid:1,known:2")[2] == "stormplace: asked\n"


def test_ctrl_c_while_zookeeper_keeps_silent_ends_without_a_trace() -> None:
    """Somebody accepts the connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        with subprocess.Popen(
            [sys.executable, "-m", "cli.main", "network", "--zookeeper", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if not name.startswith("STORMPLACE_")},
            text=True,
        ) as program:
            mute.accept()
            program.send_signal(signal.SIGINT)
            out, errors = program.communicate()
    assert (program.returncode, out, errors) == (130, "", "")
