package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClusterKeysTest {
    private static final String POOLS = "resource.aware.scheduler.user.pools";
    private static final String MACHINES = "isolation.scheduler.machines";

    @Test
    void onlyTheKeysThatPlacementsHeedAreSent() {
        ClusterKeys keys = ClusterKeys.read(Fixture.conf(MACHINES, Map.of("t", 2), "stormplace.mode", "shadow"));
        assertEquals(new ClusterKeys("{\"isolation.scheduler.machines\":{\"t\":2}}", List.of()), keys);
        assertEquals(new ClusterKeys("{}", List.of()), ClusterKeys.read(Fixture.conf()));
    }

    @Test
    void aFileOfStormsSchedulersWinsOverStormYaml() {
        Map<String, Object> conf = Map.of(POOLS, Map.of("ann", Map.of("cpu", 100)));
        Map<String, Object> file = Map.of(POOLS, Map.of("bob", Map.of("cpu", 200)));
        ClusterKeys keys = ClusterKeys.read(conf, name -> name.equals("user-resource-pools.yaml") ? file : Map.of());
        assertEquals("{\"" + POOLS + "\":{\"bob\":{\"cpu\":200}}}", keys.json());
    }

    @Test
    void aFileThatCannotBeReadAndALoaderAreNamed() {
        ClusterKeys keys = ClusterKeys.read(
            Map.of(POOLS, Map.of("ann", Map.of("cpu", 100)), "scheduler.config.loader.uri", "file:///pools.yaml"), name -> {
                throw new IllegalStateException("two of " + name);
            });
        assertEquals("{\"" + POOLS + "\":{\"ann\":{\"cpu\":100}}}", keys.json());
        assertEquals(List.of(
            "multitenant-scheduler.yaml cannot be read, multitenant.scheduler.user.pools of storm.yaml counts: "
                + "IllegalStateException: two of multitenant-scheduler.yaml",
            "user-resource-pools.yaml cannot be read, resource.aware.scheduler.user.pools of storm.yaml counts: "
                + "IllegalStateException: two of user-resource-pools.yaml",
            "scheduler.config.loader.uri is not read: users' pools come from storm.yaml and the files beside it"), keys.faults());
    }
}
