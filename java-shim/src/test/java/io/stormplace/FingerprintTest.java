package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.stormplace.wire.Drain;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.storm.Config;
import org.apache.storm.scheduler.Cluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rounds without any change have one fingerprint; whatever matters to a plan changes it. */
class FingerprintTest {
    @Test
    void theSameClusterHasTheSameFingerprint() {
        assertEquals(of(cluster()), of(cluster()));
    }

    static Stream<UnaryOperator<Fixture>> changes() {
        return Stream.of(
            fixture -> fixture.supervisor("c", 2),
            fixture -> fixture.supervisor("a", 3),
            fixture -> fixture.supervisor("a", "elsewhere", List.of(6700, 6701), Map.of()),
            fixture -> fixture.topology("u", 1, 0),
            fixture -> fixture.topology("t", 2, 0),
            fixture -> fixture.topology("t", 1, 1),
            fixture -> fixture.topology("t", 1, 0, Config.TOPOLOGY_PRIORITY, 1),
            fixture -> fixture.topology("t", 1, 0, "topology.stormplace.frozen", true),
            fixture -> fixture.owned("t", "another"),
            fixture -> fixture.placed("t", "b", 6701, 1),
            fixture -> fixture.placed("t", "b", 6700, 3));
    }

    @ParameterizedTest
    @MethodSource("changes")
    void anyChangeChangesIt(UnaryOperator<Fixture> change) {
        assertNotEquals(of(cluster()), of(change.apply(cluster())));
    }

    @Test
    void theBlacklistChangesIt() {
        Fixture fixture = cluster();
        Cluster listed = fixture.cluster();
        listed.setBlacklistedHosts(Set.of("host-a"));

        assertNotEquals(of(fixture), Fingerprint.of(fixture.topologies(), listed, Map.of(), new ConfHashes(), List.of()));
    }

    @Test
    void theStatusOfATopologyChangesIt() {
        Fixture fixture = cluster();
        long inactive = Fingerprint.of(fixture.topologies(), fixture.cluster(), Map.of("t", "INACTIVE"), new ConfHashes(), List.of());

        assertNotEquals(of(fixture), inactive);
        assertEquals(of(fixture),
            Fingerprint.of(fixture.topologies(), fixture.cluster(), Map.of("u", "INACTIVE"), new ConfHashes(), List.of()));
    }

    @Test
    void whatIsToBeEmptiedChangesItAndItsAgeDoesNot() {
        long whole = drained("host:a", 1, 0);

        assertNotEquals(of(cluster()), whole);
        assertNotEquals(drained("host:b", 1, 0), whole);
        assertNotEquals(drained("host:a", 2, 0), whole);
        assertEquals(drained("host:a", 1, 500), whole);
    }

    private static long drained(String place, int content, long ageMs) {
        Drain drain = new Drain(place, ByteBuffer.wrap(new byte[] {(byte) content}), ageMs);
        return Fingerprint.of(cluster().topologies(), cluster().cluster(), Map.of(), new ConfHashes(), List.of(drain));
    }

    @Test
    void executorsThatChangePlacesChangeIt() {
        long before = of(cluster().placed("t", "b", 6701, 1).placed("t", "b", 6700, 4));
        long after = of(cluster().placed("t", "b", 6701, 4).placed("t", "b", 6700, 1));

        assertNotEquals(before, after);
    }

    private static long inRacks(Map<String, List<String>> racks) {
        Fixture fixture = cluster();
        Cluster cluster = fixture.cluster();
        cluster.setNetworkTopography(racks);
        return Fingerprint.of(fixture.topologies(), cluster, Map.of(), new ConfHashes(), List.of());
    }

    @Test
    void theOrderOfHostsInARackDoesNotMatterAndTheirRackDoes() {
        long before = inRacks(Map.of("r", List.of("host-a", "host-b"), "s", List.of("host-c")));

        assertEquals(before, inRacks(Map.of("r", List.of("host-b", "host-a"), "s", List.of("host-c"))));
        assertNotEquals(before, inRacks(Map.of("r", List.of("host-a", "host-c"), "s", List.of("host-b"))));
        assertNotEquals(before, inRacks(Map.of("s", List.of("host-a", "host-b"), "r", List.of("host-c"))));
    }

    private static Fixture cluster() {
        return new Fixture().supervisor("a", 2).supervisor("b", 2).topology("t", 1, 0)
            .placed("t", "a", 6700, 1, 2).placed("t", "a", 6701, 3, 4);
    }

    private static long of(Fixture fixture) {
        return Fingerprint.of(fixture.topologies(), fixture.cluster(), Map.of(), new ConfHashes(), List.of());
    }
}
