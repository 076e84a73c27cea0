package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.storm.generated.StormBase;
import org.apache.storm.generated.TopologyStatus;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.curator.retry.RetryOneTime;
import org.apache.storm.shade.org.apache.zookeeper.ZooDefs;
import org.apache.storm.shade.org.apache.zookeeper.data.ACL;
import org.apache.storm.shade.org.apache.zookeeper.data.Id;
import org.apache.storm.shade.org.apache.zookeeper.data.Stat;
import org.apache.storm.shade.org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.apache.storm.testing.InProcessZookeeper;
import org.apache.storm.utils.Utils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Against a real ZooKeeper server that holds what Storm writes. */
class TopologyStatusesTest {
    private final InProcessZookeeper server = new InProcessZookeeper();
    private final CuratorFramework nimbus = client();
    private final AtomicLong monotonicNs = new AtomicLong(TimeUnit.HOURS.toNanos(5));
    private final ReadingsCache cache = new ReadingsCache(this::connected, "/stormplace", new TopologyStatuses("/storm"),
        new StateChangeLog((message, cause) -> { }), monotonicNs::get, System::currentTimeMillis);
    /** What happens before the cache gets its next client. */
    private volatile Callable<?> meanwhile = () -> null;

    TopologyStatusesTest() throws Exception {
        nimbus.start();
    }

    private CuratorFramework client() {
        return CuratorFrameworkFactory.newClient("127.0.0.1:" + server.getPort(), 5_000, 5_000, new RetryOneTime(50));
    }

    private CuratorFramework connected() throws Exception {
        meanwhile.call();
        return client();
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
    void whatIsGoneHasNoStatusWhateverWasThere() {
        TopologyStatuses statuses = new TopologyStatuses("/storm");
        ChildData base = new ChildData("/storm/storms/t-1", new Stat(), Utils.serialize(new StormBase("t", TopologyStatus.ACTIVE, 1)));
        statuses.changed(new TreeCacheEvent(TreeCacheEvent.Type.NODE_ADDED, base));
        assertEquals(Map.of("t-1", "ACTIVE"), statuses.known());
        statuses.changed(new TreeCacheEvent(TreeCacheEvent.Type.NODE_REMOVED, base));
        assertEquals(Map.of(), statuses.known());
    }

    /** The readings are withheld, so that the client is given up; a topology ends before there is another one. */
    @Test
    void aTopologyThatEndsUnseenIsForgotten() throws Exception {
        write("t-1", TopologyStatus.ACTIVE);
        write("u-2", TopologyStatus.ACTIVE);
        nimbus.create().creatingParentsIfNeeded().forPath("/stormplace/nodes/a", new byte[] {1});
        cache.start();
        await(Map.of("t-1", "ACTIVE", "u-2", "ACTIVE"));
        meanwhile = () -> nimbus.checkExists().forPath("/storm/storms/u-2") == null ? null
            : nimbus.delete().forPath("/storm/storms/u-2");
        nimbus.setACL().withACL(List.of(new ACL(ZooDefs.Perms.ALL,
            new Id("digest", DigestAuthenticationProvider.generateDigest("another:login"))))).forPath("/stormplace/nodes");
        while (!cache.statuses().equals(Map.of("t-1", "ACTIVE"))) {
            monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(31));
            cache.start();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            assertFalse(Thread.interrupted(), "what must come did not come before the test's time-out");
        }
    }

    @Test
    void aTopologyThatStartsLaterIsFollowed() throws Exception {
        cache.start();
        write("t-1", TopologyStatus.ACTIVE);
        await(Map.of("t-1", "ACTIVE"));
    }
}
