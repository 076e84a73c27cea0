"""What a server has received and sent is read from the kernel, and dealt out to who is at the other end."""

from __future__ import annotations

import pytest

from benchmarks.monitoring.server_traffic import Traffic, growth, parse_packets, parse_sockets

SS = (
    "0      0      [::ffff:127.0.0.1]:43201 [::ffff:127.0.0.1]:36782\t bbr rtt:0.2/0.2 bytes_sent:1000990 "
    "bytes_retrans:3 bytes_acked:1000987 bytes_received:100292 segs_out:36 segs_in:38 delivered:34\n"
    "0      0             127.0.0.1:43201        127.0.0.1:40002\t bbr rtt:0.2/0.2 bytes_received:44\n"
)


def test_traffic_is_read_by_the_clients_port() -> None:
    """Neither what was sent twice counts, nor is a counter there that is zero."""
    assert parse_sockets(SS) == {36782: Traffic(100292, 1000987), 40002: Traffic(44, 0)}


def test_a_line_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="not a line of ss"):
        parse_sockets("Recv-Q Send-Q\n")


def test_growth_adds_up_the_connections_of_each_party() -> None:
    before = {1: Traffic(10, 100), 2: Traffic(0, 0), 3: Traffic(7, 7)}
    after = {1: Traffic(11, 120), 2: Traffic(5, 6), 3: Traffic(8, 9), 4: Traffic(50, 50)}
    parties = {"agents": frozenset({1, 2}), "reader": frozenset({3})}
    assert growth(before, after, parties) == {"agents": Traffic(6, 26), "reader": Traffic(1, 2)}


def test_a_connection_that_was_lost_meanwhile_ends_the_measurement() -> None:
    """What it carried is not known."""
    with pytest.raises(SystemExit, match="1 connections of agents were lost"):
        growth({1: Traffic(0, 0)}, {2: Traffic(0, 0)}, {"agents": frozenset({1})})


def test_packets_are_read_by_the_clients_port() -> None:
    text = (
        " /127.0.0.1:36782[1](queued=0,recved=123,sent=124,sid=0x1,lop=PING)\n"
        " /[0:0:0:0:0:0:0:1]:40002[0](queued=0,recved=1,sent=0)\n"
    )
    assert parse_packets(text) == {36782: 123, 40002: 1}
