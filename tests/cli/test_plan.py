"""`stormplace plan` beside a daemon that has planned a round."""

from __future__ import annotations

import json
import socket
from contextlib import closing

import pytest

from bridge.wire.structs import to_thrift
from tests.bridge.conftest import Daemon, assigned, cluster, taxi
from tests.bridge.round.planner_rounds import SCATTERED


@pytest.fixture
def daemon():
    daemon = Daemon()
    with closing(daemon.client()) as client:
        client.plan(to_thrift(cluster(assigned(taxi(), SCATTERED, 6701))))
    yield f"127.0.0.1:{daemon.port}"
    daemon.stop()


def test_the_tables_show_decision_moves_price_and_worth(stormplace, daemon):
    """What waits is shown with its price, and that nothing was moved."""
    status, out, err = stormplace("plan", "taxi-1", "--daemon", daemon)
    assert (status, err) == (0, "")
    assert out.startswith("Next round: kept: a gain waits")
    assert "The best that was found, whatever it gains, moves" in out
    assert "Price: " in out
    assert "response_time_ms" in out
    assert "A move has to gain 20% (move.min_gain), and 10 ms" in out
    assert out.endswith("Nothing was moved.\n")


def test_json_holds_the_same(stormplace, daemon):
    """With what is taken for different."""
    status, out, _ = stormplace(
        "plan", "taxi-1", "--daemon", daemon, "--json", "--strategy", "greedy", "--what-if", '{"seed": 7}'
    )
    answer = json.loads(out)
    assert status == 0
    assert answer["next_round"]["decision"] == "keep"
    assert answer["metrics"]["response_time_ms"]["unit"] == "ms"
    status, out, _ = stormplace("plan", "taxi-1", "--daemon", daemon, "--drain", "site:us-east1")
    assert status == 0
    assert "executors leave drained hosts; placed by" in out
    assert "The next round moves" in out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("other",), "stormplace: the cluster has no topology other; it has taxi-1\n"),
        (("taxi-1", "--strategy", "none"), "stormplace: --strategy none: must be one of "),
        (("taxi-1", "--what-if", "{"), "stormplace: --what-if: "),
        (("taxi-1", "--what-if", "[]"), "stormplace: --what-if: is no JSON object such as "),
        (("taxi-1", "--drain", "a"), "stormplace: drain 'a' is neither host:NAME nor site:NAME\n"),
    ],
)
def test_bad_input_is_one_sentence(stormplace, daemon, arguments, reason):
    """Status 2, nothing printed."""
    status, out, err = stormplace("plan", *arguments, "--daemon", daemon)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(reason)


def test_a_daemon_that_does_not_answer_is_named(stormplace):
    """There is no server, or the address is none."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    status, _, err = stormplace("plan", "t", "--daemon", f"127.0.0.1:{port}")
    assert status == 2
    assert err.startswith(f"stormplace: the daemon at 127.0.0.1:{port} does not answer: ")
    assert stormplace("plan", "t", "--daemon", "here")[0] == 2
