"""Random layered applications: every operator is on a path from source to sink."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.base.checks import ModelError
from scheduler.instances.generators.layered import LayeredTraits, layered


@given(seed=st.integers(0, 1000), layers=st.integers(1, 8), more=st.integers(0, 20), density=st.floats(0, 1))
def test_every_operator_lies_on_a_path_from_the_source_to_the_sink(seed, layers, more, density) -> None:
    operators = layers + 2 + more
    made = layered(operators, layers, np.random.default_rng(seed), "home", LayeredTraits(density=density))
    graph = nx.DiGraph([(each.source, each.target) for each in made.streams])
    source, sink = made.operators[0].name, made.operators[-1].name
    assert len(made.operators) == operators == len(graph)
    assert nx.descendants(graph, source) | {source} == set(graph) == nx.ancestors(graph, sink) | {sink}
    assert nx.dag_longest_path_length(graph, weight=None, default_weight=1) == layers + 1
    assert [each.allowed for each in made.operators[1:-1]] == [None] * (operators - 2)
    assert made.operators[0].allowed == made.operators[-1].allowed == ("home",)


def test_values_stay_within_their_ranges() -> None:
    traits = LayeredTraits(execution_time_ms=(2.0, 3.0), rate=(5.0, 6.0), tuple_bytes=(7.0, 8.0))
    made = layered(30, 4, np.random.default_rng(1), traits=traits)
    assert ((made.execution_time_ms >= 2) & (made.execution_time_ms <= 3)).all()
    assert ((made.rate >= 5) & (made.rate <= 6)).all()
    assert ((made.tuple_bytes >= 7) & (made.tuple_bytes <= 8)).all()


@pytest.mark.parametrize(("operators", "layers", "place"), [(5, 4, "operators"), (5, 0, "layers")])
def test_too_few_operators_or_layers_are_refused(operators, layers, place) -> None:
    with pytest.raises(ModelError, match=place):
        layered(operators, layers, np.random.default_rng(0))


@pytest.mark.parametrize(
    "wrong", [{"density": 1.5}, {"rate": (2.0, 1.0)}, {"execution_time_ms": (-1.0, 1.0)}]
)
def test_ranges_out_of_order_are_refused(wrong) -> None:
    with pytest.raises(ModelError, match=next(iter(wrong))):
        LayeredTraits(**wrong)
