"""`stormplace plan` beside a daemon that has planned a round."""

from __future__ import annotations

import json
import socket
from contextlib import closing

import pytest

from bridge.wire.structs import to_thrift
from cli.plan.plan_output import print_preview
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
    assert "20 s (default)" in out
    assert "response_time_ms" in out
    assert "A move has to gain 20% (move.min_gain), and 10 ms" in out
    assert " ".join(out.split()).endswith("s ago, when Nimbus last asked for a plan. Nothing was moved.")


def test_json_holds_the_same(stormplace, daemon):
    """With what is taken for different."""
    status, out, _ = stormplace(
        "plan", "taxi-1", "--daemon", daemon, "--json", "--strategy", "greedy", "--what-if", '{"seed": 7}'
    )
    answer = json.loads(out)
    assert status == 0
    assert answer["next_round"]["decision"] == "keep"
    assert answer["metrics"]["response_time_ms"]["unit"] == "ms"
    price = answer["candidate"]["price"]
    assert (price["pause_s"], price["pause_source"], price["pause_samples"]) == (20.0, "default", 0)
    assert price["replayed_tuples"] is None
    status, out, _ = stormplace("plan", "taxi-1", "--daemon", daemon, "--drain", "site:us-east1")
    assert status == 0
    assert "executors leave drained hosts; placed by" in " ".join(out.split())
    assert "The next round moves" in out


PRICE = {
    "gain": 0.2,
    "executors_moved": 1,
    "workers_restarted": 1,
    "executors_restarted": 2,
    "objective": {"staying": 0.5, "candidate": 0.4},
    "pause_s": 11.2,
    "pause_source": "restarts at rome",
    "pause_samples": 5,
    "replayed_tuples": 1234.4,
    "pulled_mb": 24.5,
    "move_cost": 210.0,
    "payback_s": 8.0769,
}


def printed(capsys, price):
    answer = {
        "next_round": {"status": "kept", "moves": [], "price": None},
        "candidate": {
            "status": "moved",
            "moves": [
                {
                    "component": "c",
                    "tasks": [1, 2],
                    "from": {"host": "a", "port": 1},
                    "to": {"host": "b", "port": 1},
                }
            ],
            "price": price,
        },
        "metrics": {"cost": {"staying": 92.0, "candidate": 66.0, "unit": "units/s"}},
        "thresholds": {"min_gain": 0.2, "min_gain_ms": 10.0, "max_restarts_per_round": 1},
        "state_age_s": 1.0,
    }
    print_preview(answer)
    return " ".join(capsys.readouterr().out.split())


def test_the_price_list_has_what_is_known(capsys):
    """What the pause rests on, what is replayed and loaded, what that costs, and when it is paid back."""
    out = printed(capsys, PRICE)
    assert "Price: 1 running executor moves, 1 worker with 2 executors restarts, for a gain of 20.0%." in out
    assert "│ pause │ 11 s (by 5 restarts at rome) │" in out
    assert "│ replayed │ 1,234 tuples │ │ loaded │ 24.5 MB │" in out
    assert "│ cost of moving │ 210 units │ │ paid back │ after 8.08 s │" in out
    assert "│ cost │ 92 units/s │ 66 units/s │ -26 units/s │ │ objective F │ 0.5 │ 0.4 │ -0.1 │" in out
    assert "1 executor may restart in a round." in out


def test_what_is_not_known_is_not_shown_and_what_never_pays_is_said(capsys):
    """An older daemon names no pause at all."""
    unknown = dict.fromkeys(("objective", "replayed_tuples", "pulled_mb", "move_cost", "payback_s"))
    out = printed(capsys, {**PRICE, **unknown})
    assert "│ pause │ 11 s (by 5 restarts at rome) │ └" in out
    assert "objective" not in out
    assert "│ paid back │ never │" in printed(capsys, {**PRICE, "payback_s": None})
    assert "(default)" in printed(capsys, {**PRICE, "pause_source": "default", "pause_samples": 0})
    old = {key: PRICE[key] for key in ("gain", "executors_moved", "workers_restarted", "executors_restarted")}
    assert "What it costs" not in printed(capsys, old)


def test_one_tuple_is_one(capsys):
    """Where a spout restarts with all that it feeds only what is under way is replayed."""
    assert "│ replayed │ 1 tuple │" in printed(capsys, {**PRICE, "replayed_tuples": 0.9})


def test_why_nothing_is_to_be_had_is_said_once(capsys):
    """Where the next round has the same reason; else both are."""
    nothing = {"status": "kept: no candidate is better", "moves": [], "price": None}
    limits = {"min_gain": 0.2, "min_gain_ms": 10.0, "max_restarts_per_round": 1}
    answer = {"candidate": nothing, "metrics": {}, "thresholds": limits, "state_age_s": 1.0}
    print_preview({**answer, "next_round": nothing})
    assert capsys.readouterr().out.splitlines()[:2] == [
        "Next round: kept: no candidate is better",
        "Nothing else to be had.",
    ]
    print_preview({**answer, "next_round": {**nothing, "status": "kept: it is frozen"}})
    assert "Nothing else to be had: kept: no candidate is better\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("other",), "stormplace: the cluster has no topology other; it has taxi-1\n"),
        (("taxi-1", "--strategy", "none"), "stormplace: --strategy none: must be one of "),
        (("taxi-1", "--what-if", "{"), "stormplace: --what-if: is no JSON: "),
        (
            ("taxi-1", "--what-if", '{"pinn": 3}'),
            "stormplace: what-if: topology.stormplace.pinn: unknown key\n",
        ),
        (("taxi-1", "--what-if", "[]"), "stormplace: --what-if: is no JSON object such as "),
        (("taxi-1", "--drain", "a"), "stormplace: drain 'a' is neither host:NAME nor site:NAME\n"),
        (("taxi-1", "--drain", "host:a"), "stormplace: drain host:a: the cluster has no such host\n"),
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
