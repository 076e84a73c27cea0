package io.stormplace.largeclusters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecordedClusterTest {
    @Test
    void theSmallestIsReadFromTheJar() {
        BenchmarkCluster cluster = RecordedCluster.read("03");
        assertEquals(50, cluster.topologies().size());
        assertEquals(1_221, cluster.executors());
        assertEquals(743, cluster.topologies().stream().mapToInt(each -> BenchmarkCluster.components(each.getTopology()).size()).sum());
        assertEquals(80, cluster.supervisors().size());
        assertEquals(960, cluster.supervisors().values().stream().mapToInt(each -> each.getAllPorts().size()).sum());
    }

    @Test
    void anotherNumberIsRefused() {
        assertEquals("recorded clusters are 01, 02 and 03, not 04",
            assertThrows(IllegalArgumentException.class, () -> RecordedCluster.read("04")).getMessage());
    }

    @Test
    void jsonHoldsHostsWithRacksAndComponentsWithDemands() {
        Map<String, Object> json = ClusterJson.cluster(RecordedCluster.read("03"), Map.of());
        Set<Object> racks = new HashSet<>();
        list(json, "hosts").forEach(host -> racks.add(host.get("rack")));
        assertEquals(Set.of("/rack001", "/rack002"), racks);
        Map<String, Object> host = list(json, "hosts").get(0);
        assertEquals(ClusterJson.object("name", "rack001-00001", "supervisor", "r001s00001", "rack", "/rack001", "first_port", 6700,
            "slots", 12, "cpu", 1_100.0, "memory", 58_829.0, "generic", Map.of("network.resource.units", 50.0)), host);
        int executors = 0;
        for (Map<String, Object> topology : list(json, "topologies")) {
            int task = 1;
            for (Map<String, Object> component : list(topology, "components")) {
                assertEquals(task, component.get("first_task"));
                task += (int) component.get("executors");
            }
            executors += task - 1;
        }
        assertEquals(1_221, executors);
        assertEquals(1_668, list(json, "topologies").stream().mapToInt(topology -> ((List<?>) topology.get("edges")).size()).sum());
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> list(Map<String, Object> json, String key) {
        return (List<Map<String, Object>>) json.get(key);
    }
}
