package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.storm.generated.StormBase;
import org.apache.storm.generated.TopologyStatus;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.storm.shade.org.apache.curator.retry.RetryOneTime;
import org.apache.storm.testing.InProcessZookeeper;
import org.apache.storm.utils.Utils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Against a real ZooKeeper server that holds what Storm writes. */
class TopologyStatusesTest {
    private final InProcessZookeeper server = new InProcessZookeeper();
    private final CuratorFramework nimbus = client();
    private final ReadingsCache cache = new ReadingsCache(this::client, "/stormplace", new TopologyStatuses("/storm"),
        new StateChangeLog((message, cause) -> { }), System::nanoTime, System::currentTimeMillis);

    TopologyStatusesTest() throws Exception {
        nimbus.start();
    }

    private CuratorFramework client() {
        return CuratorFrameworkFactory.newClient("127.0.0.1:" + server.getPort(), 5_000, 5_000, new RetryOneTime(50));
    }

    @AfterEach
    void close() throws Exception {
        cache.close();
        nimbus.close();
        server.close();
    }

    /** The table has no call-back for its reader. */
    private void await(Map<String, String> statuses) {
        while (!cache.statuses().equals(statuses)) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            assertFalse(Thread.interrupted(), "what must come did not come before the test's time-out");
        }
    }

    private void write(String id, TopologyStatus status) throws Exception {
        write(id, Utils.serialize(new StormBase(id, status, 1)));
    }

    private void write(String id, byte[] content) throws Exception {
        nimbus.create().orSetData().creatingParentsIfNeeded().forPath("/storm/storms/" + id, content);
    }

    @Test
    void statusesFollowWhatStormWrites() throws Exception {
        assertEquals(Map.of(), cache.statuses());
        write("t-1", TopologyStatus.ACTIVE);
        write("u-2", TopologyStatus.KILLED);
        cache.start();
        await(Map.of("t-1", "ACTIVE", "u-2", "KILLED"));
        write("t-1", TopologyStatus.INACTIVE);
        await(Map.of("t-1", "INACTIVE", "u-2", "KILLED"));
        nimbus.delete().forPath("/storm/storms/u-2");
        await(Map.of("t-1", "INACTIVE"));
    }

    @Test
    void whatCannotBeReadHasNoStatus() throws Exception {
        write("t-1", TopologyStatus.REBALANCING);
        write("u-2", new byte[] {1, 2, 3});
        cache.start();
        await(Map.of("t-1", "REBALANCING"));
        write("t-1", new byte[0]);
        await(Map.of());
    }

    @Test
    void aTopologyThatStartsLaterIsFollowed() throws Exception {
        cache.start();
        write("t-1", TopologyStatus.ACTIVE);
        await(Map.of("t-1", "ACTIVE"));
    }
}
