package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.junit.jupiter.api.Test;

class ClusterIdentityTest {
    private static String identity(List<String> servers, String root, Object... more) {
        Map<String, Object> conf = Fixture.conf(more);
        conf.put(Config.STORM_ZOOKEEPER_SERVERS, servers);
        conf.put(Config.STORM_ZOOKEEPER_PORT, 2181);
        conf.put(Config.STORM_ZOOKEEPER_ROOT, root);
        return ClusterIdentity.of(conf);
    }

    @Test
    void eachNimbusOfAClusterGivesTheSameName() {
        assertEquals("zk-1,zk-2:2181/storm", identity(List.of("zk-1", "zk-2"), "/storm"));
        assertEquals(identity(List.of("zk-1", "zk-2"), "/storm", Config.STORM_LOCAL_HOSTNAME, "nimbus-1"),
            identity(List.of("ZK-2", "zk-1"), "/storm", Config.STORM_LOCAL_HOSTNAME, "nimbus-2"));
    }

    @Test
    void clustersThatShareAZooKeeperDiffer() {
        assertNotEquals(identity(List.of("zk"), "/storm"), identity(List.of("zk"), "/other"));
    }

    @Test
    void clustersThatHaveTheirZooKeeperOnNimbusHostDifferByThatHost() {
        for (String server : List.of("localhost", "127.0.0.1", "::1")) {
            assertEquals(server + ":2181/storm@nimbus-1",
                identity(List.of(server), "/storm", Config.STORM_LOCAL_HOSTNAME, "nimbus-1"));
            assertTrue(identity(List.of(server), "/storm").contains("/storm@"));
        }
        assertEquals("localhost,zk:2181/storm",
            identity(List.of("zk", "localhost"), "/storm", Config.STORM_LOCAL_HOSTNAME, "nimbus-1"));
    }

    @Test
    void aConfigurationWithoutZooKeeperIsNoObstacle() {
        assertEquals("null:nullnull", ClusterIdentity.of(Map.of()));
    }
}
