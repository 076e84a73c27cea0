"""The simulated Redis does what the scripts do in a real one: same answers, same progress, same results."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from topologies.redis_io.resp import RedisConnection, RedisReplyError, encode_command
from topologies.taxi.epochs import _begin
from topologies.taxi.keys import Run
from topologies.taxi.scripts import RELEASE
from topologies.taxi.settings import TaxiSettings

from .redis_in_one_process import Redis, arguments

if TYPE_CHECKING:
    from formats.address import Address

QUERIES = ("1", "2")
RUN = Run("r1")
FIRST_EPOCH = 2**52
"""Above every clock, so that the number of the next epoch does not depend on the time."""
LAST_ROW = 41
UNSIMULATED = {"epochs"}
"""What the real Redis counts for the collector alone."""


class Both:
    """A run of 40 rows and its end in the simulated Redis and in a real one, to which the same is done."""

    def __init__(self, address: Address, client: Any, seed: int) -> None:
        self.random = random.Random(seed)
        self._settings = TaxiSettings(address, RUN, QUERIES)
        self._client = client
        self._connection = RedisConnection(address)
        self.simulated = Redis(QUERIES)
        self.simulated.chance = self.random
        self.simulated.cut = set()
        self.simulated.feed(["x"] * (LAST_ROW - 1), self.random)
        for entry in self.simulated.rows:
            client.xadd(RUN.rows, entry.fields, id=entry.id)
        self.simulated.progress["epoch"] = str(FIRST_EPOCH)
        client.hset(RUN.progress, "epoch", FIRST_EPOCH)

    @property
    def epoch(self) -> int:
        return int(self.simulated.progress["epoch"])

    def begin(self, above: int, sent: int, *, yielding: bool) -> bool:
        """Begin an epoch in both, compare what they say and where rows are read from; False: they rest."""
        reader = self.simulated.reader()
        reader.begin_again(above, sent, yielding=yielding)
        began = _begin(self._connection, self._settings, above, sent, yielding=yielding)
        assert began == reader.began
        if began is None:
            return False
        assert [each["name"] for each in self._client.xinfo_groups(RUN.rows)] == [f"epoch-{began.epoch}"]
        ((_, ((first, fields),)),) = self._client.xreadgroup(
            f"epoch-{began.epoch}", "test", {RUN.rows: ">"}, count=1
        )
        assert (first, fields) == (self.simulated.rows[reader.at].id, self.simulated.rows[reader.at].fields)
        return True

    def release(self, query: str, epoch: int, first: int, last: int, *, result: bool) -> str | None:
        """Write a batch in both, with a result or only as worked off; return why both refuse it."""
        more: tuple[str | int, ...] = ()
        if result:
            n = self.random.randint(1, last)
            entry = next(each.id for each in reversed(self.simulated.rows) if int(each.fields["n"]) <= n)
            more = (entry, n, self.random.choice(("-", 77)), "n", last, "tops", f"top {last}")
        command = encode_command(
            *("EVAL", RELEASE, 2, RUN.progress, RUN.results_of(query)), *(query, epoch, first, last, *more)
        )
        refused = self.simulated.release(arguments(command))
        reason = None
        self._connection.send(command)
        try:
            assert self._connection.read_reply() == 1
        except RedisReplyError as error:
            reason = str(error)
        assert (reason is None) == (refused is None)
        assert reason is None or reason.startswith(refused)
        return reason

    def compare(self) -> None:
        """Look at all that is kept."""
        kept = self._client.hgetall(RUN.progress)
        assert {
            key: value for key, value in kept.items() if key not in UNSIMULATED
        } == self.simulated.progress
        for query in QUERIES:
            entries = [fields for _, fields in self._client.xrange(RUN.results_of(query))]
            assert entries == [fields for _, fields in self.simulated.results[query]]

    def next_row(self, query: str) -> int:
        return int(self.simulated.progress.get(f"released:{query}", 0)) + 1


@pytest.mark.parametrize("seed", range(5))
def test_whatever_is_done_both_answer_and_keep_the_same(redis_server: Any, seed: int) -> None:
    """Epochs, results, rows worked off again, what is over or does not follow, and a source that yields."""
    both = Both(redis_server.address, redis_server.client(), seed)
    seen = set()
    assert both.begin(0, 0, yielding=False)
    for _ in range(150):
        query = both.random.choice(QUERIES)
        first = both.next_row(query)
        last = min(first + both.random.randint(0, 6), LAST_ROW)
        done = both.random.choice(("begin", *["next"] * 5, "again", "over", "gap"))
        if done == "begin":
            above = both.random.choice((0, both.epoch, both.epoch + 3))
            both.begin(above, first, yielding=both.random.random() < 0.5)
        elif done == "next" and first <= LAST_ROW:
            assert both.release(query, both.epoch, first, last, result=True) is None
        elif done == "again" and first > 1:
            assert both.release(query, both.epoch, 1, first - 1, result=False) is None
        elif done == "over":
            reason = both.release(query, both.epoch - 1, first, last, result=both.random.random() < 0.5)
            assert reason is not None
            assert reason.startswith("STALE")
        elif done == "gap":
            reason = both.release(query, both.epoch, first + 1, last + 1, result=True)
            assert reason is not None
            assert reason.startswith("GAP")
        seen.add(done)
        both.compare()
    assert seen == {"begin", "next", "again", "over", "gap"}
    for query in QUERIES:
        first = both.next_row(query)
        assert both.release(query, both.epoch, first, LAST_ROW, result=first <= LAST_ROW) is None
    assert not both.begin(0, LAST_ROW, yielding=True)
    assert both.begin(0, LAST_ROW, yielding=False)
    both.compare()
