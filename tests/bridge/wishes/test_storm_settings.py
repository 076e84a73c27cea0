"""Storm's own keys: what they mean, and what becomes of bad values."""

from __future__ import annotations

import json

import pytest

from bridge.wishes.storm_settings import (
    DEFAULT_HEAP_MB,
    DEFAULT_PRIORITY,
    StormSettings,
    parse_storm_settings,
)


def test_every_key_sets_its_attribute() -> None:
    text = json.dumps(
        {
            "topology.worker.max.heap.size.mb": 2048,
            "topology.priority": 3.0,
            "topology.ras.one.executor.per.worker": True,
            "topology.ras.one.component.per.worker": True,
            "topology.scheduler.favored.nodes": ["h1"],
            "topology.scheduler.unfavored.nodes": ["h2", "h3"],
            "topology.isolate.machines": 2,
        }
    )
    settings = parse_storm_settings(text)
    assert settings.model_dump() == {
        "heap_mb": 2048.0,
        "priority": 3,
        "one_executor_per_worker": True,
        "one_component_per_worker": True,
        "favored": ("h1",),
        "unfavored": ("h2", "h3"),
        "constraints": {"apart": frozenset(), "per_node": ()},
        "machines": 2,
        "faults": (),
    }


@pytest.mark.parametrize("text", [None, "", "{}", '{"topology.priority": null, "topology.debug": 1}'])
def test_what_is_not_said_has_storms_default(text: str | None) -> None:
    settings = parse_storm_settings(text)
    assert settings == StormSettings()
    assert (settings.heap_mb, settings.priority) == (DEFAULT_HEAP_MB, DEFAULT_PRIORITY)


@pytest.mark.parametrize(
    ("key", "value", "phrase"),
    [
        ("topology.worker.max.heap.size.mb", 0, "must be > 0.0, got 0"),
        ("topology.worker.max.heap.size.mb", "1g", "must be a number, got '1g'"),
        ("topology.worker.max.heap.size.mb", True, "must be a number, got True"),
        ("topology.priority", -1, "must be >= 0, got -1"),
        ("topology.ras.one.executor.per.worker", "maybe", "got 'maybe'"),
        ("topology.isolate.machines", 0, "must be >= 1, got 0"),
        ("topology.scheduler.favored.nodes", "h1", "must be a list, got 'h1'"),
    ],
)
def test_a_bad_value_is_named_and_the_others_count(key: str, value: object, phrase: str) -> None:
    settings = parse_storm_settings(json.dumps({key: value, "topology.scheduler.unfavored.nodes": ["h9"]}))
    (fault,) = settings.faults
    assert fault.startswith(key)
    assert phrase in fault
    assert settings.unfavored == ("h9",)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[]", "3"])
def test_what_is_no_object_is_named(text: str) -> None:
    assert parse_storm_settings(text).faults[0].startswith("Storm's settings are no JSON")
