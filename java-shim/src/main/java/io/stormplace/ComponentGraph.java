package io.stormplace;

import io.stormplace.wire.ComponentKind;
import io.stormplace.wire.Grouping;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.StormTopology;

/**
 * The components of one topology and the streams between them, system parts included.
 *
 * <p>Storm keeps ackers and other system components out of the topology's Thrift description; they are known only by their
 * executors, and the ack streams only by Storm's rules. Inputs are read directly: Storm's own helper for the user's graph
 * throws when a bolt subscribes to a system component. Nothing of Nimbus' cached objects is changed or deserialised.
 *
 * @param names   the components in alphabetical order; the index of a component is its position
 * @param kinds   one kind for each name
 * @param streams streams in the order of their source, target and id
 */
record ComponentGraph(List<String> names, List<ComponentKind> kinds, List<Stream> streams) {
    private static final String ACKER = "__acker";

    /** A directed stream between two components, by their indices. */
    record Stream(int from, int to, String id, Grouping grouping) {
    }

    /**
     * Reads the graph.
     *
     * @param topology           the user's topology, or null if Nimbus does not know it
     * @param executorComponents the component of every executor; those that the topology does not hold are Storm's own
     * @return the graph
     */
    static ComponentGraph of(StormTopology topology, Collection<String> executorComponents) {
        SortedMap<String, ComponentKind> kinds = new TreeMap<>();
        Map<String, ComponentCommon> commons = new HashMap<>();
        if (topology != null) {
            orEmpty(topology.get_spouts()).forEach((name, spout) -> {
                kinds.put(name, ComponentKind.SPOUT);
                commons.put(name, spout.get_common());
            });
            orEmpty(topology.get_bolts()).forEach((name, bolt) -> {
                kinds.put(name, ComponentKind.BOLT);
                commons.put(name, bolt.get_common());
            });
        }
        for (String component : executorComponents) {
            kinds.putIfAbsent(component, component.equals(ACKER) ? ComponentKind.ACKER : ComponentKind.SYSTEM);
        }
        ComponentGraph graph = new ComponentGraph(List.copyOf(kinds.keySet()), List.copyOf(kinds.values()), new ArrayList<>());
        commons.forEach(graph::addInputs);
        if (kinds.containsKey(ACKER)) {
            graph.addAckStreams(graph.indexOf(ACKER));
        }
        graph.streams.sort(Comparator.comparingInt(Stream::from).thenComparingInt(Stream::to).thenComparing(Stream::id));
        return graph;
    }

    /**
     * Finds a component.
     *
     * @param name the name of a component
     * @return its index; negative if there is none of this name
     */
    int indexOf(String name) {
        return Collections.binarySearch(names, name);
    }

    private static <K, V> Map<K, V> orEmpty(Map<K, V> map) {
        return Objects.requireNonNullElse(map, Map.of());
    }

    private void addInputs(String target, ComponentCommon common) {
        if (common == null) {
            return;
        }
        orEmpty(common.get_inputs()).forEach((input, grouping) -> {
            int source = indexOf(input.get_componentId());
            // Ticks and metrics come from parts of the worker itself: no executor sends them, so nothing is to be placed.
            if (source >= 0) {
                streams.add(new Stream(source, indexOf(target), input.get_streamId(), groupingOf(grouping)));
            }
        });
    }

    private void addAckStreams(int acker) {
        for (int component = 0; component < names.size(); component++) {
            if (kinds.get(component) == ComponentKind.SPOUT) {
                streams.add(new Stream(component, acker, "__ack_init", Grouping.FIELDS));
                streams.add(new Stream(acker, component, "__ack_ack", Grouping.DIRECT));
                streams.add(new Stream(acker, component, "__ack_fail", Grouping.DIRECT));
                streams.add(new Stream(acker, component, "__ack_reset_timeout", Grouping.DIRECT));
            } else if (kinds.get(component) == ComponentKind.BOLT) {
                streams.add(new Stream(component, acker, "__ack_ack", Grouping.FIELDS));
                streams.add(new Stream(component, acker, "__ack_fail", Grouping.FIELDS));
            }
        }
    }

    private static Grouping groupingOf(org.apache.storm.generated.Grouping grouping) {
        if (grouping == null || grouping.getSetField() == null) {
            return Grouping.CUSTOM;
        }
        return switch (grouping.getSetField()) {
            // A fields grouping over no field sends every tuple to the same task.
            case FIELDS -> grouping.get_fields().isEmpty() ? Grouping.GLOBAL : Grouping.FIELDS;
            case SHUFFLE -> Grouping.SHUFFLE;
            case ALL -> Grouping.ALL;
            case NONE -> Grouping.NONE;
            case DIRECT -> Grouping.DIRECT;
            case LOCAL_OR_SHUFFLE -> Grouping.LOCAL_OR_SHUFFLE;
            case CUSTOM_OBJECT, CUSTOM_SERIALIZED -> Grouping.CUSTOM;
        };
    }
}
