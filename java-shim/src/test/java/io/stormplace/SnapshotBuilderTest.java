package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.wire.Drain;
import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.Reading;
import io.stormplace.wire.ReadingKind;
import io.stormplace.wire.Supervisor;
import io.stormplace.wire.Topology;
import io.stormplace.wire.placementConstants;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.junit.jupiter.api.Test;

class SnapshotBuilderTest {
    private static final ReadingsCache.View NO_READINGS = new ReadingsCache.View(List.of(), List.of(), false);
    private static final BooleanSupplier IN_TIME = () -> false;

    private static PlanRequest request(Fixture fixture) {
        return builder().build("r", fixture.topologies(), fixture.cluster(), NO_READINGS, IN_TIME).request();
    }

    @Test
    void supervisorsComeInTheOrderOfTheirIdsWithSortedPortsAndResources() {
        PlanRequest request = request(new Fixture().supervisor("b", 1)
            .supervisor("a", "host-1", List.of(6702, 6700), Map.of("stormplace.site", "roma")));
        Supervisor first = request.getSupervisors().get(0);
        assertEquals(new Supervisor("a", "host-1", List.of(6700, 6702), true, false, 400, 4096,
            Map.of("stormplace.site", "roma")), first);
        assertEquals("b", request.getSupervisors().get(1).getId());
    }

    @Test
    void metadataThatIsNoMapOrHasNullsIsNoObstacle() {
        Map<Object, Object> meta = new HashMap<>();
        meta.put("a", 5);
        meta.put("b", null);
        meta.put(null, "c");
        PlanRequest request = request(new Fixture().supervisor("a", "h", List.of(6700), null)
            .supervisor("b", "h", List.of(6700), meta).supervisor("c", "h", List.of(6700), List.of("x")));
        assertEquals(List.of(Map.of(), Map.of("a", "5"), Map.of()),
            request.getSupervisors().stream().map(Supervisor::getMeta).toList());
    }

    @Test
    void aSupervisorWithoutHostResourcesOrPortsIsNoObstacle() throws TException {
        PlanRequest request = request(new Fixture()
            .config("storm.network.topography.plugin", HostNameTopography.class.getName())
            .supervisor("a", null, null, null));
        assertEquals("a", request.getSupervisors().get(0).getHost());
        assertEquals(List.of(), request.getSupervisors().get(0).getPorts());
        new TSerializer().serialize(request);
    }

    @Test
    void blacklistedHostsAreMarked() {
        Fixture fixture = new Fixture().supervisor("a", 1).supervisor("b", 1);
        Cluster cluster = fixture.cluster();
        cluster.blacklistHost("host-b");
        List<Supervisor> supervisors = builder().build("r", fixture.topologies(), cluster, NO_READINGS, IN_TIME)
            .request().getSupervisors();
        assertFalse(supervisors.get(0).isBlacklisted());
        assertTrue(supervisors.get(1).isBlacklisted());
    }

    @Test
    void anAssignmentOnAVanishedSupervisorBringsThatSupervisorAsNotAlive() {
        PlanRequest request = request(new Fixture().supervisor("b", 1).topology("t", 1, 0)
            .placed("t", "gone", 6705, 1, 2).placed("t", "b", 6700, 3, 4));
        Supervisor gone = request.getSupervisors().get(1);
        assertEquals(new Supervisor("gone", "gone", List.of(6705), false, false, 0, 0, Map.of()), gone);
        assertEquals(List.of(1, 1, 0, 0), request.getTopologies().get(0).getExecutor_supervisor());
        assertEquals(List.of(6705, 6705, 6700, 6700), request.getTopologies().get(0).getExecutor_port());
    }

    @Test
    void theHostOfAVanishedSupervisorIsRememberedWhileAnAssignmentNamesIt() {
        SnapshotBuilder builder = builder();
        Fixture before = new Fixture().supervisor("s", 1).topology("t", 1, 0).placed("t", "s", 6700, 1);
        builder.build("1", before.topologies(), before.cluster(), NO_READINGS, IN_TIME);
        Fixture after = new Fixture().topology("t", 1, 0).placed("t", "s", 6700, 1);
        assertEquals("host-s", builder.build("2", after.topologies(), after.cluster(), NO_READINGS, IN_TIME).request()
            .getSupervisors().get(0).getHost());
        Fixture empty = new Fixture();
        builder.build("3", empty.topologies(), empty.cluster(), NO_READINGS, IN_TIME);
        assertEquals("s", builder.build("4", after.topologies(), after.cluster(), NO_READINGS, IN_TIME).request()
            .getSupervisors().get(0).getHost());
    }

    @Test
    void aPortThatIsHiddenThisRoundIsSentWhileItIsInUse() {
        PlanRequest request = request(new Fixture().supervisor("a", 1).topology("t", 1, 0).placed("t", "a", 6709, 1));
        assertEquals(List.of(6700, 6709), request.getSupervisors().get(0).getPorts());
    }

    @Test
    void executorsComeInTheOrderOfTheirTasksWithComponentResourcesAndSlot() {
        Topology topology = request(new Fixture().supervisor("a", 1).topology("t", 3, 1)
            .placed("t", "a", 6700, 2, 5)).getTopologies().get(0);
        assertEquals("t", topology.getId());
        assertEquals("name-of-t", topology.getName());
        assertEquals("owner", topology.getOwner());
        assertEquals(3, topology.getNum_workers());
        assertEquals(List.of("__acker", "count", "words"), topology.getComponent_names());
        assertEquals(List.of(2, 1, 0), topology.getComponent_kinds());
        assertEquals(List.of(1, 2, 3, 4, 5), topology.getExecutor_first_task());
        assertEquals(List.of(1, 2, 3, 4, 5), topology.getExecutor_last_task());
        assertEquals(List.of(0, 1, 1, 2, 2), topology.getExecutor_component());
        assertEquals(List.of(-1, 0, -1, -1, 0), topology.getExecutor_supervisor());
        assertEquals(List.of(-1, 6700, -1, -1, 6700), topology.getExecutor_port());
        assertEquals(List.of(10.0, 10.0, 10.0, 10.0, 10.0), topology.getExecutor_cpu_percent());
        assertEquals(List.of(128.0, 128.0, 128.0, 128.0, 128.0), topology.getExecutor_memory_mb());
        assertEquals(7, topology.getStream_idsSize());
    }

    @Test
    void executorsOfSeveralTasksKeepTheirRange() {
        Map<ExecutorDetails, String> executors = Map.of(new ExecutorDetails(4, 9), "words",
            new ExecutorDetails(1, 3), "count");
        Topology topology = request(new Fixture().topology("t", 1, Fixture.wordCount(), executors)).getTopologies().get(0);
        assertEquals(List.of(1, 4), topology.getExecutor_first_task());
        assertEquals(List.of(3, 9), topology.getExecutor_last_task());
    }

    @Test
    void onlyTheTopologysOwnStormplaceKeysAreSettings() {
        Topology topology = request(new Fixture().topology("t", 1, 0, "topology.stormplace.strategy", "greedy",
            "topology.stormplace.weights", Map.of("response_time", 1.0), "stormplace.mode", "shadow"))
            .getTopologies().get(0);
        assertEquals("{\"topology.stormplace.strategy\":\"greedy\","
            + "\"topology.stormplace.weights\":{\"response_time\":1.0}}", topology.getSettings_json());
    }

    @Test
    void aTopologyThatCannotBeDescribedIsLeftOutWithTheReasonAndTheOthersAreSent() {
        Map<ExecutorDetails, String> executors = new HashMap<>();
        executors.put(new ExecutorDetails(1, 1), null);
        Fixture fixture = new Fixture().topology("odd", 1, null, executors).topology("good", 1, 0);
        Snapshot snapshot = builder().build("r", fixture.topologies(), fixture.cluster(), NO_READINGS, IN_TIME);
        assertEquals(Set.of("good"), snapshot.executors().keySet());
        assertEquals(Set.of("odd"), snapshot.leftOut().keySet());
        assertTrue(snapshot.leftOut().get("odd").startsWith("cannot be described to the daemon: NullPointer"));
    }

    @Test
    void aTopologyForWhichThereIsNoTimeIsLeftOutAndItsSlotsAreNotOffered() {
        Fixture fixture = new Fixture().supervisor("a", 2).topology("t1", 1, 0).topology("t2", 1, 0)
            .placed("t1", "a", 6700, 1).placed("t2", "a", 6701, 1).placed("t2", "gone", 6702, 2);
        Iterator<Boolean> late = List.of(false, true).iterator();
        Snapshot snapshot = builder().build("r", fixture.topologies(), fixture.cluster(), NO_READINGS, late::next);
        assertEquals(Map.of("t2", "there was no time to describe it to the daemon"), snapshot.leftOut());
        assertEquals(List.of("t1"), snapshot.request().getTopologies().stream().map(Topology::getId).toList());
        assertEquals(List.of(List.of(6700), List.of()),
            snapshot.request().getSupervisors().stream().map(Supervisor::getPorts).toList());
    }

    @Test
    void whatLacksASlotIsDescribedFirstAndTheRequestIsInTheOrderOfIds() {
        Fixture fixture = new Fixture().supervisor("a", 9).topology("t1", 1, 0).topology("t2", 1, 0).topology("t3", 1, 0)
            .topology("t4", 1, 0).topology("t5", 1, 0).placed("t1", "a", 6700, 1, 2, 3, 4).placed("t2", "a", 6701, 1, 2, 3, 4)
            .placed("t3", "a", 6702, 1, 2, 3, 99).placed("t4", "a", 6703, 1, 2, 3, 4);
        Iterator<Boolean> late = List.of(false, false, false, true, true).iterator();
        Snapshot snapshot = builder().build("r", fixture.topologies(), fixture.cluster(), NO_READINGS, late::next);
        assertEquals(List.of("t1", "t3", "t5"), snapshot.request().getTopologies().stream().map(Topology::getId).toList());
        assertEquals(Set.of("t2", "t4"), snapshot.leftOut().keySet());
    }

    @Test
    void topologiesWithoutThriftDescriptionAreSent() throws TException {
        PlanRequest request = request(new Fixture().topology("t", 1, null, Map.of(new ExecutorDetails(1, 1), "x")));
        assertEquals(List.of(0.0), request.getTopologies().get(0).getExecutor_cpu_percent());
        new TSerializer().serialize(request);
    }

    @Test
    void readingsGoAlongAsTheyAre() {
        byte[] payload = {0, -1, '{', 13};
        Reading reading = new Reading(ReadingKind.NODE, "h", ByteBuffer.wrap(payload), 17);
        Fixture fixture = new Fixture();
        PlanRequest request = builder().build("r", fixture.topologies(), fixture.cluster(),
            new ReadingsCache.View(List.of(reading), List.of(), true), IN_TIME).request();
        assertTrue(request.isReadings_live());
        assertFalse(request.isSetDrains());
        assertArrayEquals(payload, request.getReadings().get(0).getPayload());
        assertEquals(placementConstants.VERSION, request.getVersion());
    }

    @Test
    void whatIsToBeEmptiedGoesAlong() {
        Fixture fixture = new Fixture();
        Drain drain = new Drain("site:edge", ByteBuffer.wrap(new byte[] {'{'}), 17);
        PlanRequest request = builder().build("r", fixture.topologies(), fixture.cluster(),
            new ReadingsCache.View(List.of(), List.of(drain), true), IN_TIME).request();
        assertEquals(List.of(drain), request.getDrains());
    }

    @Test
    void theSameClusterGivesTheSameBytesAndTheySurviveTheWire() throws TException {
        Fixture fixture = new Fixture().supervisor("a", 2).supervisor("b", 2).topology("t2", 2, 1)
            .topology("t1", 2, 1).placed("t1", "b", 6701, 1, 2);
        byte[] first = new TSerializer().serialize(request(fixture));
        assertTrue(Arrays.equals(first, new TSerializer().serialize(request(fixture))));
        PlanRequest back = new PlanRequest();
        new TDeserializer().deserialize(back, first);
        assertEquals(request(fixture), back);
        assertEquals(List.of("t1", "t2"), back.getTopologies().stream().map(Topology::getId).toList());
    }

    private static SnapshotBuilder builder() {
        return new SnapshotBuilder(new LastAssignments());
    }
}
