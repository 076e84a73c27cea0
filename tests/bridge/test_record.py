"""Every round is recorded, bounded in size, and can be planned again to the same bytes."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from bridge.planner import plan_round
from bridge.record import RecordError, RecordWriter, RoundRecord, read_records, versions
from bridge.replay_record import replay
from bridge.settings import CapacitySettings, Settings
from bridge.wire import encode_request, encode_response


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


def test_a_recorded_round_replays_to_the_same_bytes(make, tmp_path):
    """From the record alone, settings included: two topologies, one to place and one that runs badly."""
    settings = Settings(capacity=CapacitySettings(executors_per_host=3))
    request = make.cluster(make.taxi("a"), make.assigned(make.taxi("b"), [0, 5, 3, 6, 4, 5, 3, 1], 6701))
    done = plan_round(request, settings, lambda: 0.0)
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
        )
    )
    (recorded,) = read_records(tmp_path)
    assert replay(recorded) == recorded.response
