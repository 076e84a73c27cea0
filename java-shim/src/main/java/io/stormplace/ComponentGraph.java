package io.stormplace;

import io.stormplace.wire.ComponentKind;
import io.stormplace.wire.Grouping;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.SpoutSpec;
import org.apache.storm.generated.StormTopology;

/**
 * The components of one topology and the streams between them, system parts included.
 *
 * <p>Storm keeps ackers and other system components out of the topology's Thrift description; they are known only by their
 * executors, and the ack streams only by Storm's rules. Inputs are read directly: Storm's own helper for the user's graph
 * throws when a bolt subscribes to a system component. Nothing of Nimbus' cached objects is changed or deserialised.
 */
final class ComponentGraph {
    private static final String ACKER = "__acker";

    /** A directed stream between two components, by their indices. */
    record Stream(int from, int to, String id, Grouping grouping) {
    }

    private final List<String> names = new ArrayList<>();
    private final List<ComponentKind> kinds = new ArrayList<>();
    private final Map<String, Integer> index = new HashMap<>();
    private final List<Stream> streams = new ArrayList<>();

    /**
     * Reads the graph.
     *
     * @param topology           the user's topology, or null if Nimbus does not know it
     * @param executorComponents the component of every executor; those that the topology does not hold are Storm's own
     */
    ComponentGraph(StormTopology topology, Collection<String> executorComponents) {
        Map<String, ComponentCommon> commons = new TreeMap<>();
        Map<String, ComponentKind> known = new TreeMap<>();
        if (topology != null && topology.get_spouts() != null) {
            for (Map.Entry<String, SpoutSpec> spout : topology.get_spouts().entrySet()) {
                known.put(spout.getKey(), ComponentKind.SPOUT);
                commons.put(spout.getKey(), spout.getValue().get_common());
            }
        }
        if (topology != null && topology.get_bolts() != null) {
            for (Map.Entry<String, Bolt> bolt : topology.get_bolts().entrySet()) {
                known.put(bolt.getKey(), ComponentKind.BOLT);
                commons.put(bolt.getKey(), bolt.getValue().get_common());
            }
        }
        for (String component : executorComponents) {
            known.putIfAbsent(component, component.equals(ACKER) ? ComponentKind.ACKER : ComponentKind.SYSTEM);
        }
        known.forEach((name, kind) -> {
            index.put(name, names.size());
            names.add(name);
            kinds.add(kind);
        });
        commons.forEach(this::addInputs);
        if (index.containsKey(ACKER)) {
            addAckStreams(index.get(ACKER));
        }
        streams.sort(Comparator.comparingInt(Stream::from).thenComparingInt(Stream::to).thenComparing(Stream::id));
    }

    /**
     * Returns the components' names.
     *
     * @return names in alphabetical order; the index of a component is its position
     */
    List<String> names() {
        return names;
    }

    /**
     * Returns the components' kinds.
     *
     * @return one kind for each name
     */
    List<ComponentKind> kinds() {
        return kinds;
    }

    /**
     * Returns the streams.
     *
     * @return streams in the order of their source, target and id
     */
    List<Stream> streams() {
        return streams;
    }

    /**
     * Finds a component.
     *
     * @param name a name from {@link #names()}
     * @return its index
     */
    int indexOf(String name) {
        return index.get(name);
    }

    private void addInputs(String target, ComponentCommon common) {
        if (common == null || common.get_inputs() == null) {
            return;
        }
        for (Map.Entry<GlobalStreamId, org.apache.storm.generated.Grouping> input : common.get_inputs().entrySet()) {
            Integer source = index.get(input.getKey().get_componentId());
            // Ticks and metrics come from parts of the worker itself: no executor sends them, so nothing is to be placed.
            if (source != null) {
                streams.add(new Stream(source, index.get(target), input.getKey().get_streamId(),
                    groupingOf(input.getValue())));
            }
        }
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
