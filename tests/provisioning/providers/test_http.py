"""A service that hangs, fails, talks nonsense, lies or is killed leaks no host; each error is a sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from provisioning.providers.provider import Lease

pytestmark = pytest.mark.programs
T = 1_000_000.0
UP = T + 60.0


@pytest.fixture
def world(make_world: Any) -> Any:
    return make_world("http")


def only(world: Any, now_s: float, **changes: Any) -> Lease:
    (lease,) = world.made(**changes).leases(now_s)
    return lease


def calls(world: Any) -> list[list[Any]]:
    return [json.loads(each) for each in world.calls]


def test_a_lease_is_put_with_the_request_as_key_and_deleted(world: Any) -> None:
    world.made().lease("small", "site:1.a", T)
    world.made().release("lease-1", T, T)
    assert calls(world) == [
        ["GET", "/offers", {}, None, None],
        ["PUT", "/leases/site%3A1.a", {"offer": "small"}, None, "site:1.a"],
        ["DELETE", "/leases/site%3A1.a", {}, None, "site:1.a"],
    ]


def test_the_token_is_read_for_each_call_and_never_shown(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password for the host in ~/.netrc does not take its place."""
    netrc = world.folder / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    token = world.folder / "token"
    world.behave(token="second-secret")  # noqa: S106 - of the stand-in
    for content, said in (
        (None, r"^.*token: cannot be read \(No such file or directory\)$"),
        ("two words\n", r"^.*token: must hold a token, and nothing else, in one line$"),
        ("first-secret\n", r"^GET http://127\.0\.0\.1:\d+/offers: status 401: no such token$"),
    ):
        if content is not None:
            token.write_text(content)
        provider = world.made(token_file=str(token))
        with pytest.raises(ProviderError, match=said) as caught:
            provider.offers()
        assert "secret" not in str(caught.value)
    token.write_text("second-secret\n")
    assert provider.offers()


@pytest.mark.parametrize(
    ("behaviour", "limits", "said"),
    [
        ({"hang": True}, {"read_limit_s": 0.5, "retries": 1}, "no answer in time"),
        ({"drip": True}, {"call_limit_s": 1.0}, "no answer within 1 s"),
    ],
)
def test_a_service_that_hangs_is_an_error_in_time(
    world: Any, behaviour: dict[str, Any], limits: dict[str, Any], said: str
) -> None:
    """Also one that never ends its answer."""
    world.behave(**behaviour)
    with pytest.raises(ProviderError, match=rf"^GET http://127\.0\.0\.1:\d+/offers: {said}$"):
        world.made(**limits).offers()
    assert len(world.calls) == 1 + limits.get("retries", 0)


def test_a_service_that_is_not_there_is_an_error(world: Any, make_world: Any) -> None:
    make_world.service.kill()
    with pytest.raises(ProviderError, match=r"/offers: the connection was refused$"):
        world.made().offers()


def test_what_fails_is_called_again_a_few_times(world: Any) -> None:
    world.behave(failures=2)
    assert world.made().offers()
    world.behave(failures=3, failure=503)
    with pytest.raises(ProviderError, match=r"/offers: status 503: the service is in trouble$"):
        world.made().offers()
    assert len(world.calls) == 6


@pytest.mark.parametrize("status", [302, 400])
def test_what_is_refused_is_not_called_again(world: Any, status: int) -> None:
    """Nor is a redirect followed: the token is meant for one address."""
    world.behave(failures=1, failure=status)
    with pytest.raises(ProviderError, match=f"status {status}"):
        world.made().offers()
    assert len(world.calls) == 1


def test_a_lease_that_is_refused_leaves_nothing(world: Any) -> None:
    world.behave(full=True)
    with pytest.raises(ProviderError, match=r"PUT http.*/leases/r-1: status 409: no host is left$"):
        world.made().lease("small", "r-1", T)
    assert not world.made().leases(T)
    world.behave()
    assert world.made().lease("small", "r-1", T).status == "booting"


def test_a_service_that_is_killed_in_mid_call_leaks_no_host(world: Any, make_world: Any) -> None:
    """It has the lease, and the answer is lost: the next look asks again, by the same name."""
    world.behave(die=True)
    with pytest.raises(ProviderError, match="PUT"):
        world.made().lease("small", "r-1", T)
    with pytest.raises(ProviderError, match=r"/offers: the connection was refused$"):
        world.made().offers()
    make_world.service.kill()
    world.behave(status="ready")
    make_world.service.start()
    assert (only(world, UP).status, world.running) == ("ready", 1)
    assert world.made().release("lease-1", UP, UP).status == "gone"
    assert world.running == 0


def test_a_start_whose_answer_is_lost_again_and_again_is_deleted_in_the_end(world: Any) -> None:
    """A status such as 429 does not say that an earlier call did nothing."""
    world.made().offers()
    provider = world.made(retries=0)
    world.behave(status="booting")
    provider.lease("small", "r-0", T)
    leases = world.folder / "cloud" / "leases.json"
    content = json.loads(leases.read_text())
    leases.write_text(json.dumps({**content, "r-1": {**content["r-0"], "request_id": "r-1"}}))
    offers = provider.offers()
    provider._machines.offers = lambda: offers  # so that the next call is the one that fails
    world.behave(failures=1, failure=429)
    with pytest.raises(ProviderError, match="status 429"):
        provider.lease("small", "r-1", T)
    assert [each.status for each in provider.leases(T + 301.0)] == ["failed", "failed"]
    assert world.running == 0


def test_a_lease_that_the_service_does_not_know_is_gone(world: Any) -> None:
    world.made().lease("small", "r-1", T)
    (world.folder / "cloud" / "leases.json").unlink()
    assert world.made().release("lease-1", T, T).status == "gone"


@pytest.mark.parametrize(
    ("junk", "said"),
    [
        ("<html>", "invalid JSON: expected value at line 1 column 1"),
        ('{"leases": {}}', r"leases: must be a list, got \{\}$"),
        ('{"leases": [{"request_id": "r-1", "status": "up"}]}', r"leases\[0\]\.status: must be 'booting', "),
        ('{"leases": [{"status": "ready"}]}', r"leases\[0\]\.request_id: missing$"),
        (
            '{"leases": [{"request_id": "r-1", "status": "ready", "ready_at_s": "now"}]}',
            r"leases\[0\]\.ready_at_s: must be a number, got 'now'$",
        ),
    ],
)
def test_an_answer_that_makes_no_sense_is_named_with_its_place(world: Any, junk: str, said: str) -> None:
    """And the lease stays."""
    world.made().lease("small", "r-1", T)
    world.behave(junk=junk)
    with pytest.raises(ProviderError, match=rf"^GET .*/leases: the answer makes no sense: {said}"):
        world.made().leases(T)
    world.behave(status="ready")
    assert only(world, T).status == "ready"


def test_an_answer_without_end_is_cut_off(world: Any) -> None:
    world.behave(junk="1" * 4_300_000)
    with pytest.raises(ProviderError, match=r"/offers: the answer is longer than 4194304 bytes$"):
        world.made().offers()


@pytest.mark.parametrize(
    ("lie", "status", "reason"),
    [
        ({"host": ""}, "booting", "the provider says that it is up, and does not name its host"),
        ({"host": "up here"}, "booting", "the provider names its host 'up here', which is no name of one"),
        ({"ready_at_s": T + 1e9}, "ready", ""),
        ({"ready_at_s": 1.0}, "ready", ""),
    ],
)
def test_a_service_that_lies_about_readiness_is_not_believed(
    world: Any, lie: dict[str, Any], status: str, reason: str
) -> None:
    """A host is up between its request and now, whatever a service says."""
    world.made().lease("small", "r-1", T)
    world.behave(status="ready", lie=lie)
    lease = only(world, UP)
    assert (lease.status, lease.reason) == (status, reason)
    assert T <= (lease.ready_at_s or T) <= UP
    assert lease.cost == 2.0 * (status == "ready")


def test_a_host_that_was_ready_and_is_said_to_boot_stays_ready(world: Any) -> None:
    world.made().lease("small", "r-1", T)
    before = only(world, UP)
    world.behave(status="booting")
    assert only(world, UP) == before


def test_one_host_for_two_leases_is_not_believed(world: Any) -> None:
    for request in ("r-1", "r-2"):
        world.made().lease("small", request, T)
    world.behave(status="ready", lie={"host": "both"})
    first, second = world.made().leases(UP)
    assert (first.status, first.host) == ("ready", "both")
    assert (second.status, second.host) == ("booting", "")
    assert second.reason == "the provider names its host 'both', which is that of lease-1"
