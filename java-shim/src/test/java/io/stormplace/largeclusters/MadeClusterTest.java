package io.stormplace.largeclusters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.HostNameTopography;
import java.util.List;
import java.util.Map;
import org.apache.storm.scheduler.TopologyDetails;
import org.junit.jupiter.api.Test;

class MadeClusterTest {
    private static final MadeCluster SIZE = new MadeCluster(7, 2, 3, 50, 1, 6, 1);

    private static String json(MadeCluster size) {
        return ClusterJson.cluster(size.make("name"), Map.of()).toString();
    }

    @Test
    void theSameNumbersMakeTheSameCluster() {
        assertEquals(json(SIZE), json(SIZE));
        assertNotEquals(json(SIZE), json(new MadeCluster(7, 2, 3, 50, 1, 6, 2)));
    }

    @Test
    void itHasTheSizeAskedFor() {
        BenchmarkCluster cluster = SIZE.make("name");
        assertEquals(7, cluster.supervisors().size());
        assertEquals(2, new HostNameTopography().resolve(cluster.supervisors().values().stream().map(each -> each.getHost()).toList())
            .values().stream().distinct().count());
        assertEquals(3, cluster.topologies().size());
        for (TopologyDetails topology : cluster.topologies()) {
            assertEquals(50, topology.getExecutors().size());
            assertEquals(6, BenchmarkCluster.components(topology.getTopology()).size());
        }
    }

    @Test
    void topologiesOfSeveralSizesHaveAsManyExecutorsInAll() {
        BenchmarkCluster cluster = new MadeCluster(7, 2, 4, 55, 3, 2, 1).make("name");
        assertEquals(List.of(10, 40, 160, 10), cluster.topologies().stream().map(each -> each.getExecutors().size()).toList());
    }

    @Test
    void aTopologyMayBeOneExecutor() {
        BenchmarkCluster cluster = new MadeCluster(3, 1, 20, 1, 1, 1, 1).make("name");
        assertEquals(20, cluster.executors());
        assertTrue(cluster.supervisors().values().stream().mapToInt(each -> each.getAllPorts().size()).sum() >= 40);
    }

    @Test
    void hostsHaveRoomForAll() {
        BenchmarkCluster cluster = SIZE.make("name");
        double cpu = cluster.topologies().stream().mapToDouble(TopologyDetails::getTotalRequestedCpu).sum();
        int workers = cluster.topologies().stream().mapToInt(TopologyDetails::getNumWorkers).sum();
        assertTrue(cpu <= 0.6 * cluster.supervisors().values().stream().mapToDouble(each -> each.getTotalCpu()).sum());
        assertTrue(workers <= cluster.supervisors().values().stream().mapToInt(each -> each.getAllPorts().size()).sum() / 2);
    }
}
