package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.Supervisor;
import io.stormplace.wire.Topology;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.testing.TestWordCounter;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.topology.SharedOffHeapWithinNode;
import org.apache.storm.topology.SharedOnHeap;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;
import org.junit.jupiter.api.Test;

/** Heap, further resources, racks and Storm's own keys in a request. */
class ResourcesTest {
    @Test
    void withoutFurtherResourcesNoneAreNamed() {
        PlanRequest request = build(new Fixture().supervisor("a", 1).topology("t", 1, 0));

        assertNull(request.getResource_names());
        assertNull(request.getSupervisors().get(0).getResources());
        assertNull(request.getTopologies().get(0).getComponent_resources());
        assertEquals(List.of(128.0, 128.0), request.getTopologies().get(0).getComponent_heap_mb());
    }

    @Test
    void resourcesAreThoseThatAnyoneOffersOrNeeds() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("words", new TestWordSpout(), 1).addResource("gpu.units", 2.0);
        builder.setBolt("count", new TestWordCounter(), 1).fieldsGrouping("words", new Fields("word"))
            .setMemoryLoad(300.0, 50.0);
        Fixture fixture = new Fixture().supervisor("a", 1)
            .topology("t", 1, builder.createTopology(), executors("count", "words"));

        PlanRequest request = build(fixture);

        Topology topology = request.getTopologies().get(0);
        assertEquals(List.of("gpu.units"), request.getResource_names());
        assertEquals(List.of(0.0), request.getSupervisors().get(0).getResources());
        assertEquals(List.of("count", "words"), topology.getComponent_names());
        assertEquals(List.of(0.0, 2.0), topology.getComponent_resources());
        assertEquals(List.of(300.0, 128.0), topology.getComponent_heap_mb());
        assertEquals(List.of(350.0, 128.0), topology.getExecutor_memory_mb());
    }

    @Test
    void ackersAreComponentsWithTheirOwnDemand() {
        Fixture fixture = new Fixture().supervisor("a", 1)
            .topology("t", 1, Fixture.wordCount(), executors("__acker", "words"),
                Config.TOPOLOGY_ACKER_EXECUTORS, 1, Config.TOPOLOGY_ACKER_CPU_PCORE_PERCENT, 7.0,
                Config.TOPOLOGY_ACKER_RESOURCES_ONHEAP_MEMORY_MB, 20.0);

        Topology topology = build(fixture).getTopologies().get(0);

        int acker = topology.getComponent_names().indexOf("__acker");
        assertEquals(acker, topology.getExecutor_component().get(0));
        assertEquals(7.0, topology.getExecutor_cpu_percent().get(0));
        assertEquals(20.0, topology.getComponent_heap_mb().get(acker));
    }

    @Test
    void memoryThatComponentsShareIsNamedOnce() {
        TopologyBuilder builder = new TopologyBuilder();
        SharedOnHeap cache = new SharedOnHeap(100.0, "cache");
        builder.setSpout("words", new TestWordSpout(), 1).addSharedMemory(cache)
            .addSharedMemory(new SharedOffHeapWithinNode(300.0, "table"));
        builder.setBolt("count", new TestWordCounter(), 1).fieldsGrouping("words", new Fields("word"))
            .addSharedMemory(cache);
        Fixture fixture = new Fixture().supervisor("a", 1)
            .topology("t", 1, builder.createTopology(), executors("count", "words"));

        Topology topology = build(fixture).getTopologies().get(0);

        assertEquals(List.of("count", "words"), topology.getComponent_names());
        assertEquals(List.of(0, 1, 1), topology.getShared_component());
        assertEquals(List.of(0, 0, 1), topology.getShared_piece());
        assertEquals(List.of(100.0, 0.0, 0.0, 0.0, 0.0, 300.0), topology.getShared_mb());
    }

    @Test
    void whatSharesNoMemorySaysNothingOfIt() {
        Topology topology = build(new Fixture().supervisor("a", 1).topology("t", 1, 0)).getTopologies().get(0);

        assertNull(topology.getShared_component());
        assertNull(topology.getShared_mb());
    }

    @Test
    void aComponentWithoutExecutorsNeedsNothing() {
        StormTopology topology = Fixture.wordCount();
        Fixture fixture = new Fixture().supervisor("a", 1).topology("t", 1, topology, executors("words"));

        assertEquals(List.of(0.0, 128.0), build(fixture).getTopologies().get(0).getComponent_heap_mb());
    }

    @Test
    void racksAreSentWhereThereAreSeveral() {
        Fixture fixture = new Fixture().supervisor("a", 1).supervisor("b", 1).topology("t", 1, 0);
        Cluster cluster = fixture.cluster();
        assertNull(build(fixture, cluster).getSupervisors().get(0).getRack());

        cluster.setNetworkTopography(Map.of("/one", List.of("host-a"), "/two", List.of("host-b")));

        List<String> racks = build(fixture, cluster).getSupervisors().stream().map(Supervisor::getRack).toList();
        assertEquals(List.of("/one", "/two"), racks);
    }

    @Test
    void stormsKeysThatPlacementsHeedAreSentAndNoOthers() {
        Fixture fixture = new Fixture().supervisor("a", 1)
            .topology("t", 1, 0, Config.TOPOLOGY_PRIORITY, 3, Config.TOPOLOGY_DEBUG, true,
                Config.TOPOLOGY_WORKER_MAX_HEAP_SIZE_MB, 512.0);

        String sent = build(fixture).getTopologies().get(0).getStorm_json();

        assertEquals("{\"topology.priority\":3,\"topology.ras.one.component.per.worker\":false,"
            + "\"topology.ras.one.executor.per.worker\":false,\"topology.worker.max.heap.size.mb\":512.0}", sent);
    }

    private static Map<ExecutorDetails, String> executors(String... components) {
        Map<ExecutorDetails, String> executors = new HashMap<>();
        for (int i = 0; i < components.length; i++) {
            executors.put(new ExecutorDetails(i + 1, i + 1), components[i]);
        }
        return executors;
    }

    private static PlanRequest build(Fixture fixture) {
        return build(fixture, fixture.cluster());
    }

    private static PlanRequest build(Fixture fixture, Cluster cluster) {
        ReadingsCache.View nothing = new ReadingsCache.View(List.of(), List.of(), true);
        return new SnapshotBuilder(new LastAssignments()).build("r", fixture.topologies(), cluster, nothing,
            () -> false).request();
    }
}
