"""Names of clusters: recorded ones, made ones, and sets of them that are measured together."""

from __future__ import annotations

RECORDED = ("recorded-01", "recorded-02", "recorded-03")
MADE = {
    "hosts": 100,
    "racks": 4,
    "topologies": 20,
    "executors": 50,
    "sizes": 1,
    "components": 8,
    "seed": 1,
}
_EXECUTORS_PER_HOST = 20
_HOSTS_PER_RACK = 40
_EXECUTORS_PER_TOPOLOGY = 200
_GROWTH = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def growing(executors: int) -> str:
    """Return the name of a made cluster in which everything is in proportion to the number of executors.

    Twenty executors on a host, forty hosts in a rack, topologies of 29, 114 and 457 executors.
    """
    hosts = executors // _EXECUTORS_PER_HOST
    return (
        f"made:hosts={hosts},racks={-(-hosts // _HOSTS_PER_RACK)},"
        f"topologies={executors // _EXECUTORS_PER_TOPOLOGY},executors={_EXECUTORS_PER_TOPOLOGY},sizes=3"
    )


SETS = {
    "recorded": RECORDED,
    "growth": tuple(growing(executors) for executors in _GROWTH),
    "made": (
        "made:hosts=1900,racks=48,topologies=190,executors=200,sizes=3",
        "made:hosts=1300,racks=33,topologies=1,executors=5400,components=12",
        "made:hosts=500,racks=13,topologies=10000,executors=1,components=1",
    ),
}
"""`growth`: 1,000 to 100,000 executors; `made`: many topologies, a large one, very many of one executor."""


def made_cluster(text: str) -> dict[str, int]:
    """Return the parameters of a made cluster.

    Args:
        text: `made:` and pairs as `hosts=100`, separated by commas.

    Raises:
        ValueError: A key is unknown, or a value is no whole number from 1 on.
    """
    parameters = dict(MADE)
    for pair in filter(None, text.removeprefix("made:").split(",")):
        key, _, value = pair.partition("=")
        if key not in MADE or not value.isdecimal() or int(value) < 1:
            raise ValueError(f"{pair!r} is no pair of {', '.join(MADE)} and a whole number from 1 on")
        parameters[key] = int(value)
    return parameters


def clusters_of(text: str) -> tuple[str, ...]:
    """Return the clusters that a name stands for.

    Args:
        text: A cluster or a set of clusters.

    Raises:
        ValueError: There is none of that name.
    """
    if text in SETS:
        return SETS[text]
    if text.startswith("made:"):
        made_cluster(text)
    elif text not in RECORDED:
        raise ValueError(f"{text!r} is none of {', '.join((*SETS, *RECORDED))} or made:...")
    return (text,)


def parameters(name: str) -> str | dict[str, int]:
    """Return a cluster as the Java side reads it: the name of a recorded one, what a made one is made of."""
    return made_cluster(name) if name.startswith("made:") else name


def file_name(cluster: str) -> str:
    """Return the name of a cluster's file."""
    return cluster.translate(str.maketrans(":=,", "---"))
