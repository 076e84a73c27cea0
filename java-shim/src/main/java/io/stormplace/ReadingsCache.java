package io.stormplace;

import io.stormplace.wire.Reading;
import io.stormplace.wire.ReadingKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.curator.framework.state.ConnectionState;
import org.apache.storm.shade.org.apache.curator.utils.ZKPaths;
import org.apache.storm.shade.org.apache.zookeeper.KeeperException;

/**
 * The readings in ZooKeeper, kept up to date by watches away from the scheduling thread.
 *
 * <p>Bytes are passed on unread. A reading's age runs on the monotonic clock from the moment when its change was seen; only for
 * a reading that was there before we looked, the znode's modification time is all there is to go by. Readings of a lost
 * connection are kept: they grow older, and it is the daemon that decides when they are too old.
 */
final class ReadingsCache implements AutoCloseable {
    private static final long CLOSE_WAIT_MS = 3_000;
    private static final long ACCESS_CHECK_NS = TimeUnit.SECONDS.toNanos(30);

    /** What a round sends along: the readings in the order of kind and name, and whether ZooKeeper is connected. */
    record View(List<Reading> readings, boolean live) {
    }

    private record Key(ReadingKind kind, String name) {
    }

    private record Entry(byte[] payload, long modification, long seenNs, long ageAtSightMs, int connection) {
    }

    private final Callable<CuratorFramework> connector;
    private final Map<ReadingKind, String> paths;
    private final StateChangeLog changes;
    private final LongSupplier clockNs;
    private final LongSupplier wallClockMs;
    private final Map<Key, Entry> entries = new ConcurrentHashMap<>();
    private final Set<ReadingKind> initialized = Collections.synchronizedSet(EnumSet.noneOf(ReadingKind.class));
    private final AtomicBoolean started = new AtomicBoolean();
    private final AtomicInteger connection = new AtomicInteger();
    private final List<AutoCloseable> open = new ArrayList<>();
    private volatile boolean connected;
    private volatile boolean refused;
    private volatile long checkedNs;
    private volatile CuratorFramework current;
    private volatile boolean closed;

    /**
     * Creates an idle cache.
     *
     * @param connector   makes an unstarted ZooKeeper client; called on the cache's own thread
     * @param root        znode that holds {@code nodes} and {@code rates}; neither has to exist
     * @param changes     told when the connection comes and goes
     * @param clockNs     monotonic time in ns
     * @param wallClockMs time since 1970 in ms
     */
    ReadingsCache(Callable<CuratorFramework> connector, String root, StateChangeLog changes, LongSupplier clockNs,
                  LongSupplier wallClockMs) {
        this.connector = connector;
        this.paths = Map.of(ReadingKind.NODE, root + "/nodes", ReadingKind.RATES, root + "/rates");
        this.changes = changes;
        this.clockNs = clockNs;
        this.wallClockMs = wallClockMs;
    }

    /** Begins to follow the readings unless that has been done, and looks now and then whether it may; returns at once. */
    void start() {
        if (started.compareAndSet(false, true)) {
            daemonThread(this::connect, "stormplace-readings").start();
        } else if (connected && clockNs.getAsLong() - checkedNs > ACCESS_CHECK_NS) {
            checkAccessSoon();
        }
    }

    /**
     * Returns what is known now.
     *
     * @return readings with their ages
     */
    View view() {
        long now = clockNs.getAsLong();
        List<Reading> readings = new ArrayList<>();
        entries.forEach((key, entry) -> {
            Reading reading = new Reading();
            reading.setKind(key.kind());
            reading.setName(key.name());
            reading.setPayload(entry.payload());
            reading.setAge_ms(entry.ageAtSightMs() + TimeUnit.NANOSECONDS.toMillis(now - entry.seenNs()));
            readings.add(reading);
        });
        readings.sort(Comparator.comparing(Reading::getKind).thenComparing(Reading::getName));
        return new View(readings, connected && !refused && initialized.size() == paths.size());
    }

    /** Ends the connection; waits a bounded time, as Nimbus gives its shutdown ten seconds. */
    @Override
    public void close() {
        closed = true;
        Thread closing = daemonThread(this::closeAll, "stormplace-readings-close");
        closing.start();
        try {
            closing.join(CLOSE_WAIT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread daemonThread(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    private void connect() {
        synchronized (open) {
            if (closed) {
                return;
            }
            try {
                CuratorFramework client = connector.call();
                open.add(0, client);
                current = client;
                client.getConnectionStateListenable().addListener((ignored, state) -> connectionChanged(state));
                client.start();
                for (Map.Entry<ReadingKind, String> path : paths.entrySet()) {
                    TreeCache cache = TreeCache.newBuilder(client, path.getValue()).setMaxDepth(1).build();
                    open.add(0, cache);
                    cache.getListenable().addListener((ignored, event) -> changed(path.getKey(), event));
                    cache.start();
                }
            } catch (Exception e) {
                changes.bad(StateChangeLog.Subject.READINGS, "failed",
                    "Stormplace cannot follow the readings in ZooKeeper, and plans without them: " + Text.describe(e), e);
                closeAll();
                // The next round tries again.
                started.set(false);
            }
        }
    }

    private void closeAll() {
        synchronized (open) {
            for (AutoCloseable resource : open) {
                try {
                    resource.close();
                } catch (Exception e) {
                    changes.bad(StateChangeLog.Subject.READINGS, "close", "Stormplace cannot close its ZooKeeper client: "
                        + Text.describe(e), e);
                }
            }
            open.clear();
        }
    }

    private void connectionChanged(ConnectionState state) {
        connected = state.isConnected();
        if (connected) {
            checkAccessSoon();
            return;
        }
        connection.incrementAndGet();
        if (!closed && !refused) {
            changes.bad(StateChangeLog.Subject.READINGS, "disconnected",
                "Stormplace has no connection to ZooKeeper; the readings it has grow older.");
        }
    }

    private void checkAccessSoon() {
        checkedNs = clockNs.getAsLong();
        daemonThread(this::checkAccess, "stormplace-readings-access").start();
    }

    /** Looks for readings that ZooKeeper withholds: the caches would take them for absent ones, without a word. */
    private void checkAccess() {
        CuratorFramework client = current;
        try {
            for (String path : paths.values()) {
                Optional<String> withheld = withheld(client, path);
                if (withheld.isPresent()) {
                    changes.bad(StateChangeLog.Subject.READINGS, "no access", "Stormplace may not read " + withheld.get()
                        + " in ZooKeeper: it was published with another login than that of " + ShimSettings.ZOOKEEPER_AUTH
                        + "; trying on.");
                    refused = true;
                    connected = false;
                    closeAll();
                    // The next round logs in anew, with what the file holds then.
                    initialized.clear();
                    started.set(false);
                    return;
                }
            }
            refused = false;
            changes.good(StateChangeLog.Subject.READINGS, "Stormplace follows the readings in ZooKeeper.");
        } catch (Exception e) {
            if (connected && !closed) {
                changes.bad(StateChangeLog.Subject.READINGS, "unchecked",
                    "Stormplace cannot tell whether it may read the readings in ZooKeeper: " + Text.describe(e), e);
            }
        }
    }

    /** Names the folder of a kind of readings, or its first reading, if the login does not open any of them. */
    private static Optional<String> withheld(CuratorFramework client, String path) throws Exception {
        String asked = path;
        try {
            for (String name : client.getChildren().forPath(path)) {
                asked = path + "/" + name;
                try {
                    client.getData().forPath(asked);
                    return Optional.empty();
                } catch (KeeperException.NoNodeException gone) {
                    // The next one tells as much.
                }
            }
            return Optional.empty();
        } catch (KeeperException.NoNodeException nobody) {
            return Optional.empty();
        } catch (KeeperException.NoAuthException refusal) {
            return Optional.of(asked);
        }
    }

    private void changed(ReadingKind kind, TreeCacheEvent event) {
        switch (event.getType()) {
            case INITIALIZED -> initialized.add(kind);
            case NODE_ADDED, NODE_UPDATED -> {
                if (isReading(kind, event.getData())) {
                    Key key = new Key(kind, ZKPaths.getNodeFromPath(event.getData().getPath()));
                    entries.compute(key, (ignored, before) -> entry(before, event.getData()));
                }
            }
            case NODE_REMOVED -> {
                if (isReading(kind, event.getData())) {
                    entries.remove(new Key(kind, ZKPaths.getNodeFromPath(event.getData().getPath())));
                }
            }
            default -> {
                // The connection has a listener of its own.
            }
        }
    }

    private boolean isReading(ReadingKind kind, ChildData data) {
        return data.getPath().length() > paths.get(kind).length();
    }

    private Entry entry(Entry before, ChildData data) {
        long modification = data.getStat().getMzxid();
        if (before != null && before.modification() == modification) {
            return before;
        }
        // While there was no connection a change may have happened long before it is seen.
        boolean firstSight = before == null || before.connection() != connection.get();
        long ageMs = firstSight ? Math.max(0, wallClockMs.getAsLong() - data.getStat().getMtime()) : 0;
        byte[] payload = data.getData() == null ? new byte[0] : data.getData();
        return new Entry(payload, modification, clockNs.getAsLong(), ageMs, connection.get());
    }
}
