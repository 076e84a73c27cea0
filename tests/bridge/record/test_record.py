"""Every round is recorded, bounded in size, and can be planned again to the same bytes."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace

import pytest

from bridge.record.record import RecordError, RecordWriter, RoundRecord, read_records, versions
from bridge.record.replay_record import replay, same_plans
from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, MoveSettings, Settings
from bridge.wire.encoding import decode_response, encode_request, encode_response
from bridge.wire.messages import Price

SCATTERED = [0, 5, 3, 6, 4, 5, 3, 1]


def record(number=0, size=10):
    return RoundRecord(
        request=bytes([number % 256]) * size,
        response=b"answer",
        settings_json=Settings().to_json(),
        settings_digest=Settings().digest(),
        time_s=float(number),
        timings_ms={"plan": 1.5},
        timed_out=False,
        versions=versions(),
    )


def test_records_are_read_back_in_order(tmp_path):
    """Request, response, settings, timings and versions as written, over several files and a new writer."""
    directory = tmp_path / "records"
    writer = RecordWriter(directory, 4096, 100)
    for number in range(20):
        writer.append(record(number))
    RecordWriter(directory, 4096, 100).append(record(20))
    again = list(read_records(directory))
    assert [each.time_s for each in again] == list(range(21))
    assert replace(again[3], settings_json="") == replace(record(3), settings_json="")
    assert json.loads(again[3].settings_json) == json.loads(Settings().to_json())
    assert {"stormplace", "python", "numpy"} <= set(again[3].versions)
    assert len(list(directory.iterdir())) > 1


def test_records_are_bounded_by_rotation(tmp_path):
    """Files end at their size, and only the newest are kept."""
    writer = RecordWriter(tmp_path, 4096, 3)
    for number in range(60):
        writer.append(record(number))
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    assert all(path.stat().st_size <= 4096 for path in files)
    assert [each.time_s for each in read_records(tmp_path)][-1] == 59.0


def test_a_file_is_one_json_line_per_round_for_any_gzip_reader(tmp_path):
    """zcat and jq must do."""
    writer = RecordWriter(tmp_path, 65536, 1)
    writer.append(record(1))
    writer.append(record(2))
    (path,) = tmp_path.iterdir()
    lines = gzip.decompress(path.read_bytes()).splitlines()
    assert [json.loads(line)["time_s"] for line in lines] == [1.0, 2.0]


def test_a_line_that_a_crash_cut_off_hides_nothing_before_it(tmp_path):
    """The last member is half there: the first is read."""
    writer = RecordWriter(tmp_path, 65536, 1)
    writer.append(record(1))
    (path,) = tmp_path.iterdir()
    whole = path.stat().st_size
    writer.append(record(2))
    path.write_bytes(path.read_bytes()[: whole + 20])
    assert [each.time_s for each in read_records(path)] == [1.0]


def test_a_full_disk_is_an_error_and_later_records_are_readable(tmp_path):
    """The device that is always full stands in for the file."""
    writer = RecordWriter(tmp_path, 65536, 2)
    path = tmp_path / "rounds-00000001.jsonl.gz"
    path.symlink_to("/dev/full")
    with pytest.raises(RecordError, match=r"rounds-00000001.jsonl.gz: record not written \(No space left"):
        writer.append(record(1))
    path.unlink()
    writer.append(record(2))
    assert [each.time_s for each in read_records(tmp_path)] == [2.0]


def test_a_directory_that_cannot_be_written_is_refused_at_once(tmp_path):
    """A file in its place, and a parent that is a file; parents that do not exist are created."""
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file" / "child"):
        with pytest.raises(RecordError, match="records cannot be written there"):
            RecordWriter(directory, 4096, 1)
    RecordWriter(tmp_path / "no" / "parent", 4096, 1)
    assert (tmp_path / "no" / "parent").is_dir()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{}", "field 'record_version' is missing"),
        (b'{"record_version": 9}', "record version 9 is not known"),
        (b"nonsense", "is no record"),
        (b"[]", "missing or of the wrong type"),
    ],
)
def test_what_is_no_record_is_refused_with_file_and_line(tmp_path, line, message):
    """A good line before it does not hide it."""
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(record().to_line()) + gzip.compress(line))
    with pytest.raises(RecordError, match=f"x.gz, line 2: .*{message}"):
        list(read_records(path))


def test_files_that_are_no_records_are_refused(tmp_path):
    """No gzip, no file."""
    (tmp_path / "x").write_bytes(b"plain text")
    with pytest.raises(RecordError, match="is no record file"):
        list(read_records(tmp_path / "x"))
    with pytest.raises(RecordError, match="cannot be read"):
        list(read_records(tmp_path / "absent"))


def recorded(tmp_path, request, settings, done, **past):
    writer = RecordWriter(tmp_path, 65536, 1)
    writer.append(
        RoundRecord(
            request=encode_request(request),
            response=encode_response(done.response),
            settings_json=settings.to_json(),
            settings_digest=settings.digest(),
            time_s=1.0,
            timings_ms={},
            timed_out=False,
            versions=versions(),
            **past,
        )
    )
    return list(read_records(tmp_path))


def test_recorded_rounds_replay_to_the_same_bytes(make, tmp_path):
    """Each from its record alone: one topology is placed, the other waits, moves, and cools down."""
    settings = Settings(
        capacity=CapacitySettings(executors_per_host=3), move=MoveSettings(max_restarts_per_round=1000)
    )
    request = make.cluster(make.taxi("a"), make.assigned(make.taxi("b"), SCATTERED, 6701))
    memory, decisions = NOTHING, []
    for now_s in (100.1, 110.2, 130.3, 140.4):
        done = plan_round(request, settings, lambda: 0.0, memory=memory, now_s=now_s)
        record = recorded(tmp_path, request, settings, done, now_s=now_s, memory=memory)[-1]
        assert (record.now_s, record.memory) == (now_s, memory)
        assert replay(record) == record.response
        decisions.append(done.response.plans[1].status.split(" ")[0])
        request, memory = make.carried_out(request, done.response), done.memory
    assert decisions == ["kept:", "kept:", "moved", "kept:"]
    assert memory != NOTHING


def test_a_round_recorded_before_there_was_a_memory_replays_as_it_was_planned(make, tmp_path):
    """At once: neither its record nor its settings know of waiting."""
    settings = Settings(move=MoveSettings(cool_down_s=0, stabilisation_s=0))
    request = make.cluster(make.assigned(make.taxi(), SCATTERED))
    done = plan_round(request, settings, lambda: 0.0)
    (record,) = recorded(tmp_path, request, settings, done)
    old = json.loads(record.settings_json)
    del old["move"]["cool_down_s"], old["move"]["stabilisation_s"]
    assert done.response.plans[0].status.startswith("moved ")
    assert "memory" not in json.loads(record.to_line())
    assert replay(replace(record, settings_json=json.dumps(old))) == record.response


def test_a_round_recorded_before_workers_got_other_ports_replays_as_it_was_planned(make, tmp_path):
    settings = Settings(move=MoveSettings(cool_down_s=0, stabilisation_s=0, fresh_ports=False))
    request = make.cluster(make.assigned(make.taxi(), SCATTERED, 6701))
    (record,) = recorded(tmp_path, request, settings, plan_round(request, settings, lambda: 0.0))
    old = json.loads(record.settings_json)
    del old["move"]["fresh_ports"]
    assert replay(replace(record, settings_json=json.dumps(old))) == record.response
    old["move"]["fresh_ports"] = True
    assert replay(replace(record, settings_json=json.dumps(old))) != record.response


def test_the_plans_of_a_version_without_price_lists_count_as_the_same(make):
    """Another number of restarts does not."""
    settings = Settings(move=MoveSettings(cool_down_s=0, stabilisation_s=0))
    request = make.cluster(make.assigned(make.taxi(), SCATTERED))
    response = plan_round(request, settings, lambda: 0.0).response
    (plan,) = response.plans
    price = plan.price
    counts = (price.executors_moved, price.workers_moved, price.executors_restarted)

    def stating(*numbers):
        old = replace(plan, status="moved by ils", price=Price(price.gain, *numbers))
        return encode_response(replace(response, plans=(old,)))

    assert price.pause_s is not None
    assert same_plans(encode_response(response), stating(*counts))
    assert not same_plans(encode_response(response), stating(counts[0], counts[1], counts[2] + 1))


@pytest.mark.parametrize("asked", [True, False])
def test_a_round_that_did_not_ask_what_was_measured_is_replayed_so(make, tmp_path, asked):
    """All readings are stale: it moved by the site table then, and stays now."""
    settings = Settings(move=MoveSettings(cool_down_s=0, stabilisation_s=0))
    request = make.cluster(make.assigned(make.taxi(), SCATTERED))
    stale = tuple(replace(each, age_ms=60_000) for each in request.readings)
    request = replace(request, readings=stale, readings_live=False)
    done = plan_round(request, settings, lambda: 0.0)
    (record,) = recorded(tmp_path, request, settings, done, now_s=1.0, memory=NOTHING)
    line = json.loads(record.to_line())
    if not asked:
        del line["memory"]["measured"]
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(json.dumps(line).encode()))
    (again,) = read_records(path)
    (plan,) = decode_response(replay(again)).plans
    assert plan.status.startswith("kept: readings are not live; " if asked else "moved ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"memory": {"topologies": [{"id": 7}]}}, "memory.topologies[0].id: must be text, got 7"),
        ({"memory": None}, "memory: must be a table, got None"),
        ({"now_s": None}, "field .* of the wrong type"),
    ],
)
def test_a_memory_that_is_none_is_refused_with_its_place(tmp_path, change, message):
    """One sentence with file and line."""
    line = {**json.loads(record().to_line()), "memory": {}, "now_s": 1.0, **change}
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(json.dumps(line).encode()))
    with pytest.raises(RecordError) as caught:
        list(read_records(path))
    assert re.search(f"x.gz, line 1: .*{message}".replace("[", r"\["), str(caught.value))
    assert "\n" not in str(caught.value)
