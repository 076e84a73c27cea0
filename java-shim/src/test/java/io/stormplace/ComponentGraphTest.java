package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.stormplace.wire.ComponentKind;
import io.stormplace.wire.Grouping;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.storm.Constants;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.grouping.PartialKeyGrouping;
import org.apache.storm.testing.TestGlobalCount;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.topology.BoltDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ComponentGraphTest {
    private static List<String> streams(ComponentGraph graph) {
        return graph.streams().stream().map(stream -> graph.names().get(stream.from()) + " " + stream.id() + " "
            + graph.names().get(stream.to()) + " " + stream.grouping()).toList();
    }

    @Test
    void systemComponentsAreKnownByTheirExecutorsAndOrderedByName() {
        ComponentGraph graph = ComponentGraph.of(Fixture.wordCount(),
            List.of("words", "count", "__eventlogger", "__metrics_org.example.Consumer"));
        assertEquals(List.of("__eventlogger", "__metrics_org.example.Consumer", "count", "words"), graph.names());
        assertEquals(List.of(ComponentKind.SYSTEM, ComponentKind.SYSTEM, ComponentKind.BOLT, ComponentKind.SPOUT),
            graph.kinds());
        assertEquals(List.of("words default count FIELDS"), streams(graph));
    }

    @Test
    void ackersBringTheirStreamsInBothDirections() {
        ComponentGraph graph = ComponentGraph.of(Fixture.wordCount(), List.of("words", "count", "__acker"));
        assertEquals(ComponentKind.ACKER, graph.kinds().get(graph.indexOf("__acker")));
        assertEquals(List.of("__acker __ack_ack words DIRECT", "__acker __ack_fail words DIRECT",
            "__acker __ack_reset_timeout words DIRECT", "count __ack_ack __acker FIELDS",
            "count __ack_fail __acker FIELDS", "words __ack_init __acker FIELDS", "words default count FIELDS"),
            streams(graph));
    }

    private static void subscribe(BoltDeclarer bolt, Grouping grouping) {
        switch (grouping) {
            case SHUFFLE -> bolt.shuffleGrouping("words");
            case FIELDS -> bolt.fieldsGrouping("words", new Fields("word"));
            case ALL -> bolt.allGrouping("words");
            case GLOBAL -> bolt.globalGrouping("words");
            case NONE -> bolt.noneGrouping("words");
            case DIRECT -> bolt.directGrouping("words");
            case LOCAL_OR_SHUFFLE -> bolt.localOrShuffleGrouping("words");
            case CUSTOM -> bolt.customGrouping("words", new PartialKeyGrouping(new Fields("word")));
        }
    }

    @ParameterizedTest
    @EnumSource(Grouping.class)
    void everyGroupingIsDescribed(Grouping grouping) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("words", new TestWordSpout());
        subscribe(builder.setBolt("count", new TestGlobalCount()), grouping);
        ComponentGraph graph = ComponentGraph.of(builder.createTopology(), List.of("words", "count"));
        assertEquals(List.of("words default count " + grouping), streams(graph));
    }

    @Test
    void aBoltThatSubscribesToASystemComponentIsNoObstacle() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("words", new TestWordSpout());
        builder.setBolt("count", new TestGlobalCount()).shuffleGrouping("words")
            .allGrouping(Constants.SYSTEM_COMPONENT_ID, Constants.SYSTEM_TICK_STREAM_ID);
        StormTopology topology = builder.createTopology();
        assertEquals(List.of("words default count SHUFFLE"),
            streams(ComponentGraph.of(topology, List.of("words", "count"))));
    }

    @Test
    void aTopologyThatNimbusDoesNotKnowHasOnlyItsExecutorsComponents() {
        ComponentGraph graph = ComponentGraph.of(null, List.of("x", "__acker"));
        Map<String, ComponentKind> kinds = graph.names().stream()
            .collect(Collectors.toMap(name -> name, name -> graph.kinds().get(graph.indexOf(name))));
        assertEquals(Map.of("x", ComponentKind.SYSTEM, "__acker", ComponentKind.ACKER), kinds);
        assertEquals(List.of(), graph.streams());
    }

    @Test
    void severalStreamsBetweenTheSameComponentsAreAllDescribed() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("words", new TestWordSpout());
        builder.setBolt("count", new TestGlobalCount()).shuffleGrouping("words", "b").globalGrouping("words", "a");
        StormTopology topology = builder.createTopology();
        assertEquals(List.of("words a count GLOBAL", "words b count SHUFFLE"),
            streams(ComponentGraph.of(topology, List.of("words", "count"))));
    }
}
