package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.wire.Drain;
import io.stormplace.wire.Reading;
import io.stormplace.wire.ReadingKind;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.storm.shade.org.apache.curator.framework.listen.Listenable;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.curator.framework.state.ConnectionState;
import org.apache.storm.shade.org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.storm.shade.org.apache.curator.retry.RetryOneTime;
import org.apache.storm.shade.org.apache.zookeeper.CreateMode;
import org.apache.storm.shade.org.apache.zookeeper.ZooDefs;
import org.apache.storm.shade.org.apache.zookeeper.data.ACL;
import org.apache.storm.shade.org.apache.zookeeper.data.Id;
import org.apache.storm.shade.org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.apache.storm.testing.InProcessZookeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Against a real ZooKeeper server; both clocks stand still unless a test moves them. */
class ReadingsCacheTest {
    private final List<String> warnings = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong monotonicNs = new AtomicLong(TimeUnit.HOURS.toNanos(5));
    private final AtomicLong wallMs = new AtomicLong(System.currentTimeMillis());
    private final AtomicReference<Threads> threads = new AtomicReference<>(Threads.DAEMONS);
    private final InProcessZookeeper server = new InProcessZookeeper();
    private final CuratorFramework agent = client();
    private final ReadingsCache cache = new ReadingsCache(this::client, "/stormplace",
        new StateChangeLog((message, cause) -> warnings.add(message)), monotonicNs::get, wallMs::get,
        (work, name) -> threads.get().make(work, name));

    ReadingsCacheTest() throws Exception {
        agent.start();
    }

    private CuratorFramework client() {
        return CuratorFrameworkFactory.newClient("127.0.0.1:" + server.getPort(), 5_000, 5_000, new RetryOneTime(50));
    }

    @AfterEach
    void close() throws Exception {
        cache.close();
        agent.close();
        server.close();
    }

    /** The cache has no call-back for its reader, so a test looks again until it sees what must come. */
    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            assertFalse(Thread.interrupted(), "what must come did not come before the test's time-out");
        }
    }

    private void publish(String path, byte[] payload) throws Exception {
        agent.create().orSetData().creatingParentsIfNeeded().forPath(path, payload);
    }

    private void follow() {
        cache.start();
        await(() -> cache.view().live());
    }

    private Reading only() {
        assertEquals(1, cache.view().readings().size());
        return cache.view().readings().get(0);
    }

    @Test
    void beforeTheFirstRoundNothingIsConnected() {
        assertEquals(new ReadingsCache.View(List.of(), List.of(), false), cache.view());
    }

    @Test
    void readingsOfBothKindsComeInOrderWithTheirBytes() throws Exception {
        byte[] payload = {'{', 0, -1};
        publish("/stormplace/rates/t-1", new byte[] {1});
        publish("/stormplace/nodes/b", payload);
        publish("/stormplace/nodes/a", new byte[0]);
        follow();
        List<Reading> readings = cache.view().readings();
        assertEquals(List.of("a", "b", "t-1"), readings.stream().map(Reading::getName).toList());
        assertEquals(List.of(ReadingKind.NODE, ReadingKind.NODE, ReadingKind.RATES),
            readings.stream().map(Reading::getKind).toList());
        assertArrayEquals(payload, readings.get(1).getPayload());
    }

    @Test
    void aPackedReadingComesAsItsTextAndAChangeOfItToo() throws Exception {
        byte[] text = "{\"host\":\"a\"}".repeat(500).getBytes(StandardCharsets.UTF_8);
        publish("/stormplace/nodes/a", Fixture.packed(text));
        follow();
        assertArrayEquals(text, only().getPayload());
        publish("/stormplace/nodes/a", Fixture.packed("{}".getBytes(StandardCharsets.UTF_8)));
        await(() -> only().getPayload().length == 2);
        assertArrayEquals(new byte[] {'{', '}'}, only().getPayload());
    }

    @Test
    void whatCannotBeUnpackedIsPassedOnForTheDaemonToNameAndTheOthersCome() throws Exception {
        byte[] bomb = Fixture.packed(new byte[PackedContent.MAX_UNPACKED_BYTES + 1]);
        publish("/stormplace/nodes/a", bomb);
        publish("/stormplace/nodes/b", new byte[] {0x78, 1, 2, 3});
        publish("/stormplace/nodes/c", Fixture.packed(new byte[] {'{', '}'}));
        follow();
        List<Reading> readings = cache.view().readings();
        assertArrayEquals(bomb, readings.get(0).getPayload());
        assertArrayEquals(new byte[] {0x78, 1, 2, 3}, readings.get(1).getPayload());
        assertArrayEquals(new byte[] {'{', '}'}, readings.get(2).getPayload());
        publish("/stormplace/nodes/a", Fixture.packed(new byte[] {'[', ']'}));
        await(() -> cache.view().readings().get(0).getPayload().length == 2);
        assertEquals(List.of(), warnings);
    }

    @Test
    void pathsThatDoNotExistYetAreFollowedFromTheMomentTheyDo() throws Exception {
        follow();
        assertEquals(List.of(), cache.view().readings());
        publish("/stormplace/nodes/late", new byte[] {1});
        await(() -> !cache.view().readings().isEmpty());
        assertEquals("late", only().getName());
    }

    @Test
    void aReadingThatWasThereBeforeIsAsOldAsItsZnode() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        long modified = agent.checkExists().forPath("/stormplace/nodes/a").getMtime();
        wallMs.set(modified + 7_000);
        follow();
        assertEquals(7_000, only().getAge_ms());
        monotonicNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_500));
        wallMs.addAndGet(1_000_000);
        assertEquals(8_500, only().getAge_ms());
    }

    @Test
    void aClockThatIsBehindZooKeepersMakesNoNegativeAge() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        wallMs.set(1);
        follow();
        assertEquals(0, only().getAge_ms());
    }

    @Test
    void aChangeThatIsSeenIsNewWhateverTheClocksSay() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        follow();
        monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(30));
        wallMs.addAndGet(1_000_000);
        publish("/stormplace/nodes/a", new byte[] {2});
        await(() -> only().getPayload()[0] == 2);
        assertEquals(0, only().getAge_ms());
    }

    @Test
    void drainsComeByPlaceAndGoWhenTheyAreTakenBack() throws Exception {
        publish("/stormplace/drains/site:edge", new byte[] {1});
        publish("/stormplace/drains/host:a", new byte[] {2});
        follow();
        assertEquals(List.of("host:a", "site:edge"), cache.drains().stream().map(Drain::getPlace).toList());
        assertEquals(cache.drains(), cache.view().drains());
        assertEquals(List.of(), cache.view().readings());
        long age = cache.drains().get(0).getAge_ms();
        monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(2));
        assertEquals(age + 2_000, cache.drains().get(0).getAge_ms());
        agent.delete().forPath("/stormplace/drains/host:a");
        await(() -> cache.drains().size() == 1);
        assertArrayEquals(new byte[] {1}, cache.drains().get(0).getPayload());
    }

    @Test
    void aDrainThatAnotherClientDoesNotShowWasTakenBackMeanwhile() throws Exception {
        publish("/stormplace/drains/host:a", new byte[] {1});
        follow();
        cache.begins();
        assertEquals(1, cache.drains().size());
        cache.changed("/stormplace/drains", new TreeCacheEvent(TreeCacheEvent.Type.INITIALIZED, null));
        assertEquals(List.of(), cache.drains());
    }

    @Test
    void aReadingThatIsRemovedIsMissing() throws Exception {
        agent.create().creatingParentsIfNeeded().withMode(CreateMode.EPHEMERAL).forPath("/stormplace/nodes/a");
        follow();
        assertEquals("a", only().getName());
        agent.delete().forPath("/stormplace/nodes/a");
        await(() -> cache.view().readings().isEmpty());
    }

    @Test
    void withoutConnectionTheReadingsGrowOlderAndOneWarningIsLogged() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        follow();
        long age = only().getAge_ms();
        server.close();
        await(() -> !cache.view().live());
        monotonicNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(40_000));
        assertEquals(age + 40_000, only().getAge_ms());
        await(() -> !warnings.isEmpty());
        assertEquals(List.of("Stormplace has no connection to ZooKeeper; the readings it has grow older."), warnings);
    }

    private ReadingsCache follower(String login) {
        return new ReadingsCache(() -> CuratorFrameworkFactory.builder().connectString("127.0.0.1:" + server.getPort())
            .retryPolicy(new RetryOneTime(50)).authorization("digest", login.getBytes(StandardCharsets.UTF_8)).build(),
            "/stormplace", new StateChangeLog((message, cause) -> warnings.add(message)), monotonicNs::get, wallMs::get,
            Threads.DAEMONS);
    }

    private void protect(String path) throws Exception {
        agent.setACL().withACL(List.of(new ACL(ZooDefs.Perms.ALL,
            new Id("digest", DigestAuthenticationProvider.generateDigest("stormplace:right"))))).forPath(path);
    }

    @Test
    void aProtectedReadingIsReadWithTheRightLogin() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        protect("/stormplace/nodes/a");
        protect("/stormplace/nodes");
        try (ReadingsCache reader = follower("stormplace:right")) {
            reader.start();
            await(() -> reader.view().live());
            assertEquals(1, reader.view().readings().size());
        }
        assertEquals(List.of(), warnings);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/stormplace/nodes/a", "/stormplace/nodes"})
    void aWrongLoginIsNamedOnceTriedOnAndNeverTakenForAnEmptyCluster(String protectedPath) throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        protect(protectedPath);
        try (ReadingsCache reader = follower("stormplace:wrong")) {
            await(() -> {
                reader.start();
                return !warnings.isEmpty();
            });
            assertTrue(warnings.get(0).startsWith("Stormplace may not read " + protectedPath + " in ZooKeeper"), warnings.get(0));
            assertFalse(reader.view().live());
            agent.getZookeeperClient().getZooKeeper().addAuthInfo("digest", "stormplace:right".getBytes(StandardCharsets.UTF_8));
            agent.setACL().withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE).forPath(protectedPath);
            await(() -> {
                reader.start();
                return reader.view().live() && reader.view().readings().size() == 1;
            });
            await(() -> warnings.size() == 2);
            assertEquals("Stormplace follows the readings in ZooKeeper.", warnings.get(1));
        }
    }

    @Test
    void aLoginThatStopsToBeEnoughIsNoticedWithinHalfAMinute() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        follow();
        protect("/stormplace/nodes");
        monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(31));
        cache.start();
        await(() -> !warnings.isEmpty());
        assertFalse(cache.view().live());
    }

    /** A client that answers one method otherwise. */
    private CuratorFramework answering(CuratorFramework client, String name, Callable<?> answer) {
        return (CuratorFramework) Proxy.newProxyInstance(CuratorFramework.class.getClassLoader(), new Class<?>[] {CuratorFramework.class},
            (proxy, method, arguments) -> method.getName().equals(name) ? answer.call() : method.invoke(client, arguments));
    }

    /** A client that hands its listeners to the test, the follower's own first. */
    private CuratorFramework recorded(List<ConnectionStateListener> listeners) {
        CuratorFramework client = client();
        Listenable<?> recording = (Listenable<?>) Proxy.newProxyInstance(Listenable.class.getClassLoader(),
            new Class<?>[] {Listenable.class}, (proxy, method, arguments) -> {
                if (method.getName().equals("addListener")) {
                    listeners.add((ConnectionStateListener) arguments[0]);
                }
                return method.invoke(client.getConnectionStateListenable(), arguments);
            });
        return answering(client, "getConnectionStateListenable", () -> recording);
    }

    @Test
    void anEventOfAClientThatWasGivenUpEndsNothing() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        agent.getZookeeperClient().getZooKeeper().addAuthInfo("digest", "stormplace:right".getBytes(StandardCharsets.UTF_8));
        List<ConnectionStateListener> listeners = new CopyOnWriteArrayList<>();
        try (ReadingsCache reader = new ReadingsCache(() -> recorded(listeners), "/stormplace",
            new StateChangeLog((message, cause) -> warnings.add(message)), monotonicNs::get, wallMs::get, Threads.DAEMONS)) {
            reader.start();
            await(() -> reader.view().live());
            protect("/stormplace/nodes");
            monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(31));
            reader.start();
            await(() -> !warnings.isEmpty());
            agent.setACL().withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE).forPath("/stormplace/nodes");
            await(() -> {
                reader.start();
                return reader.view().live();
            });
            listeners.get(0).stateChanged(null, ConnectionState.LOST);
            assertTrue(reader.view().live());
        }
    }

    @Test
    void whereAccessCannotBeCheckedTheNextRoundTriesAgain() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        Iterator<String> faults = List.of("first", "second").iterator();
        try (ReadingsCache reader = new ReadingsCache(() -> faults.hasNext() ? answering(client(), "getChildren", () -> {
            throw new IllegalStateException(faults.next());
        }) : client(), "/stormplace", new StateChangeLog((message, cause) -> warnings.add(message)), monotonicNs::get, wallMs::get,
            Threads.DAEMONS)) {
            await(() -> {
                reader.start();
                return reader.view().live();
            });
            assertEquals(1, reader.view().readings().size());
        }
        await(() -> warnings.size() == 2);
        assertEquals(List.of("Stormplace cannot check whether it may read the readings in ZooKeeper: IllegalStateException: first",
            "Stormplace follows the readings in ZooKeeper."), warnings);
    }

    @Test
    void whereNoThreadCanCheckAccessTheNextRoundTriesAgain() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        threads.set((work, name) -> (name.endsWith("-access") ? Fixture.NO_THREADS : Threads.DAEMONS).make(work, name));
        cache.start();
        await(() -> !warnings.isEmpty());
        assertFalse(cache.view().live());
        threads.set(Threads.DAEMONS);
        await(() -> {
            cache.start();
            return cache.view().live();
        });
        assertEquals("a", only().getName());
    }

    @Test
    void aChangeDuringARefusalIsAsOldAsItsZnode() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        follow();
        agent.getZookeeperClient().getZooKeeper().addAuthInfo("digest", "stormplace:right".getBytes(StandardCharsets.UTF_8));
        protect("/stormplace/nodes/a");
        monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(31));
        cache.start();
        await(() -> !warnings.isEmpty());
        publish("/stormplace/nodes/a", new byte[] {2});
        wallMs.set(agent.checkExists().forPath("/stormplace/nodes/a").getMtime() + 7_000);
        agent.setACL().withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE).forPath("/stormplace/nodes/a");
        await(() -> {
            cache.start();
            return cache.view().live() && only().getPayload()[0] == 2;
        });
        assertEquals(7_000, only().getAge_ms());
    }

    static List<Throwable> faultsOfClients() {
        return List.of(new IllegalArgumentException("no such server"), new OutOfMemoryError("unable to create native thread"));
    }

    @ParameterizedTest
    @MethodSource("faultsOfClients")
    void aClientThatCannotBeMadeIsTriedAgainInTheNextRoundAndNamedOnce(Throwable fault) {
        AtomicLong attempts = new AtomicLong();
        ReadingsCache broken = new ReadingsCache(() -> {
            attempts.incrementAndGet();
            if (fault instanceof Error error) {
                throw error;
            }
            throw (Exception) fault;
        }, "/stormplace", new StateChangeLog((message, cause) -> warnings.add(message)), monotonicNs::get, wallMs::get, Threads.DAEMONS);
        await(() -> {
            broken.start();
            return attempts.get() >= 3;
        });
        assertFalse(broken.view().live());
        assertEquals(1, warnings.size(), warnings.toString());
        broken.close();
    }

    @Test
    void whereNoThreadCanBeStartedARoundGoesOnAndALaterOneTriesAgain() throws Exception {
        publish("/stormplace/nodes/a", new byte[] {1});
        threads.set(Fixture.NO_THREADS);
        cache.start();
        cache.start();
        assertEquals(List.of("Stormplace has no thread to follow the readings in ZooKeeper: "
            + "OutOfMemoryError: unable to create native thread"), warnings);
        threads.set(Threads.DAEMONS);
        follow();
        assertEquals("a", only().getName());
        await(() -> warnings.size() == 2);
        threads.set(Fixture.NO_THREADS);
        monotonicNs.addAndGet(TimeUnit.SECONDS.toNanos(31));
        cache.start();
        assertTrue(cache.view().live());
        threads.set(Threads.DAEMONS);
    }
}
