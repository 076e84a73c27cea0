package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.storm.generated.StormBase;
import org.apache.storm.generated.TopologyStatus;
import org.apache.storm.shade.org.apache.curator.drivers.AdvancedTracerDriver;
import org.apache.storm.shade.org.apache.curator.drivers.EventTrace;
import org.apache.storm.shade.org.apache.curator.drivers.OperationTrace;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.curator.retry.RetryOneTime;
import org.apache.storm.shade.org.apache.zookeeper.KeeperException;
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
    private final List<String> warnings = Collections.synchronizedList(new ArrayList<>());
    private final StateChangeLog changes = new StateChangeLog((message, cause) -> warnings.add(message));
    private final AtomicInteger clients = new AtomicInteger();
    private final TopologyStatuses statuses = new TopologyStatuses(this::counted, "/storm", changes, monotonicNs::get,
        Threads.DAEMONS);
    private final ReadingsCache readings = new ReadingsCache(this::client, "/stormplace", changes, monotonicNs::get,
        System::currentTimeMillis, Threads.DAEMONS);

    TopologyStatusesTest() throws Exception {
        nimbus.start();
    }

    private CuratorFramework client() {
        return CuratorFrameworkFactory.newClient("127.0.0.1:" + server.getPort(), 5_000, 5_000, new RetryOneTime(50));
    }

    private CuratorFramework counted() {
        clients.incrementAndGet();
        return client();
    }

    @AfterEach
    void close() throws Exception {
        statuses.close();
        readings.close();
        nimbus.close();
        server.close();
    }

    /** The table has no call-back for its reader. */
    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            assertFalse(Thread.interrupted(), "what must come did not come before the test's time-out");
        }
    }

    private void await(Map<String, String> expected) {
        await(() -> statuses.known().equals(expected));
    }

    private void write(String id, TopologyStatus status) throws Exception {
        write(id, Utils.serialize(new StormBase(id, status, 1)));
    }

    private void write(String id, byte[] content) throws Exception {
        nimbus.create().orSetData().creatingParentsIfNeeded().forPath("/storm/storms/" + id, content);
    }

    @Test
    void statusesFollowWhatStormWrites() throws Exception {
        assertEquals(Map.of(), statuses.known());
        write("t-1", TopologyStatus.ACTIVE);
        write("u-2", TopologyStatus.KILLED);
        statuses.start();
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
        statuses.start();
        await(Map.of("t-1", "REBALANCING"));
        write("t-1", new byte[0]);
        await(Map.of());
    }

    private static TreeCacheEvent event(TreeCacheEvent.Type type, String id, TopologyStatus status) {
        return new TreeCacheEvent(type, new ChildData("/storm/storms/" + id, new Stat(), Utils.serialize(new StormBase(id, status, 1))));
    }

    private void see(TreeCacheEvent event) {
        statuses.changed("/storm/storms", event);
    }

    @Test
    void whatIsGoneHasNoStatusWhateverWasThere() {
        see(event(TreeCacheEvent.Type.NODE_ADDED, "t-1", TopologyStatus.ACTIVE));
        assertEquals(Map.of("t-1", "ACTIVE"), statuses.known());
        see(event(TreeCacheEvent.Type.NODE_REMOVED, "t-1", TopologyStatus.ACTIVE));
        assertEquals(Map.of(), statuses.known());
    }

    @Test
    void anotherClientForgetsOnlyWhatItDoesNotShowAndOnlyWhenItHasShownEverything() {
        see(event(TreeCacheEvent.Type.NODE_ADDED, "t-1", TopologyStatus.INACTIVE));
        see(event(TreeCacheEvent.Type.NODE_ADDED, "u-2", TopologyStatus.ACTIVE));
        TreeCacheEvent all = new TreeCacheEvent(TreeCacheEvent.Type.INITIALIZED, null);
        see(all);
        statuses.lost(false);
        statuses.begins();
        see(event(TreeCacheEvent.Type.NODE_ADDED, "t-1", TopologyStatus.INACTIVE));
        assertEquals(Map.of("t-1", "INACTIVE", "u-2", "ACTIVE"), statuses.known());
        see(all);
        assertEquals(Map.of("t-1", "INACTIVE"), statuses.known());
        see(all);
        assertEquals(Map.of("t-1", "INACTIVE"), statuses.known(), "a client that comes back shows only what has changed");
    }

    private void protect(String path) throws Exception {
        nimbus.setACL().withACL(List.of(new ACL(ZooDefs.Perms.ALL,
            new Id("digest", DigestAuthenticationProvider.generateDigest("another:login"))))).forPath(path);
    }

    /** Readings that are withheld end their client in each round. */
    @Test
    void readingsThatAreWithheldDoNotTouchTheStatuses() throws Exception {
        write("t-1", TopologyStatus.INACTIVE);
        nimbus.create().creatingParentsIfNeeded().forPath("/stormplace/nodes/a", new byte[] {1});
        statuses.start();
        readings.start();
        await(Map.of("t-1", "INACTIVE"));
        protect("/stormplace/nodes");
        await(() -> {
            monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(31));
            readings.start();
            statuses.start();
            assertEquals(Map.of("t-1", "INACTIVE"), statuses.known());
            return !warnings.isEmpty();
        });
        assertTrue(warnings.get(0).startsWith("Stormplace may not read /stormplace/nodes "), warnings.toString());
        assertEquals(1, clients.get());
    }

    @Test
    void statusesThatAreWithheldAreNamedOnceTriedOnAndCostNoReadings() throws Exception {
        write("t-1", TopologyStatus.INACTIVE);
        nimbus.getZookeeperClient().getZooKeeper().addAuthInfo("digest", "another:login".getBytes(StandardCharsets.UTF_8));
        protect("/storm/storms");
        readings.start();
        await(() -> readings.view().live());
        await(() -> {
            statuses.start();
            return clients.get() >= 3;
        });
        assertEquals(List.of("Stormplace may not read /storm/storms in ZooKeeper: topologies without a known status count as active; "
            + "trying on."), warnings);
        assertEquals(Map.of(), statuses.known());
        assertTrue(readings.view().live());
        nimbus.setACL().withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE).forPath("/storm/storms");
        await(() -> {
            statuses.start();
            return statuses.known().equals(Map.of("t-1", "INACTIVE"));
        });
        await(() -> warnings.size() == 2);
        assertEquals("Stormplace follows the statuses of topologies in ZooKeeper.", warnings.get(1));
    }

    /** What is read with a watch, and refused, by the client that is made. */
    private CuratorFramework traced(AtomicInteger made, List<String> refused) {
        made.incrementAndGet();
        CuratorFramework client = client();
        client.getZookeeperClient().setTracerDriver(new AdvancedTracerDriver() {
            @Override
            public void addTrace(OperationTrace trace) {
                if (trace.isWithWatcher() && trace.getReturnCode() == KeeperException.Code.NOAUTH.intValue()) {
                    refused.add(trace.getPath());
                }
            }

            @Override
            public void addEvent(EventTrace trace) {
                // Only readings count.
            }
        });
        return client;
    }

    /** A cache whose reading is refused has no watch: were the znode opened before the check of access, it would stay empty for good. */
    @Test
    void noCacheBeginsBeforeTheLoginWasFoundToBeEnough() throws Exception {
        write("t-1", TopologyStatus.INACTIVE);
        protect("/storm/storms");
        AtomicInteger made = new AtomicInteger();
        List<String> refused = Collections.synchronizedList(new ArrayList<>());
        try (TopologyStatuses table = new TopologyStatuses(() -> traced(made, refused), "/storm", changes, monotonicNs::get,
            Threads.DAEMONS)) {
            await(() -> {
                table.start();
                return made.get() >= 4;
            });
            assertEquals(List.of(), refused);
        }
    }

    @Test
    void statusesThatBecomeWithheldAreNotKnownAnyMore() throws Exception {
        write("t-1", TopologyStatus.INACTIVE);
        statuses.start();
        await(Map.of("t-1", "INACTIVE"));
        protect("/storm/storms");
        monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(31));
        statuses.start();
        await(Map.of());
        assertEquals(1, clients.get());
    }

    @Test
    void stormsDefaultRootCountsInThePlaceOfWhatIsNoText() throws Exception {
        write("t-1", TopologyStatus.ACTIVE);
        for (Object root : Arrays.asList(null, 7, List.of("/storm"))) {
            try (TopologyStatuses table = new TopologyStatuses(this::client, root, changes, monotonicNs::get, Threads.DAEMONS)) {
                table.start();
                await(() -> table.known().equals(Map.of("t-1", "ACTIVE")));
            }
        }
    }

    @Test
    void aTopologyThatStartsLaterIsFollowed() throws Exception {
        statuses.start();
        write("t-1", TopologyStatus.ACTIVE);
        await(Map.of("t-1", "ACTIVE"));
    }
}
