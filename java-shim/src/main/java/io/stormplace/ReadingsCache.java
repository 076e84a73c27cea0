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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheListener;
import org.apache.storm.shade.org.apache.curator.utils.ZKPaths;
import org.apache.storm.shade.org.apache.zookeeper.KeeperException;

/**
 * Keeps the readings in ZooKeeper up to date by watches, away from the scheduling thread.
 *
 * <p>Bytes are passed on unread. A reading's age runs on the monotonic clock from the moment when its change was seen. For a
 * reading that is older than the connection, only the znode's modification time gives its age. Readings of a lost connection
 * are kept: they grow older, and the daemon decides when they are too old.
 */
final class ReadingsCache implements AutoCloseable {
    private static final long CLOSE_WAIT_MS = 3_000;
    private static final long ACCESS_CHECK_NS = TimeUnit.SECONDS.toNanos(30);

    /** What a round sends along: the readings in the order of kind and name, and whether ZooKeeper is connected. */
    record View(List<Reading> readings, boolean live) {
    }

    /** How far the cache is: {@code IDLE -> OFFLINE <-> ONLINE}, back to {@code IDLE}, and from each to {@code CLOSED}. */
    private enum Phase {
        /** There is no client; the next round makes one. */
        IDLE,
        /** A client is being made, has no connection, or is being given up. */
        OFFLINE,
        /** The client is connected. */
        ONLINE,
        /** The cache has ended; it makes no client any more. */
        CLOSED
    }

    /** The phase, and whether the last check of access found a reading withheld; a refusal outlives its client. */
    private record State(Phase phase, boolean refused) {
        State moved(Phase next) {
            return phase == Phase.CLOSED ? this : new State(next, refused);
        }

        /** The state after an event of the connection; one of a client that is given up already changes nothing. */
        State connected(boolean now) {
            return phase == Phase.IDLE ? this : moved(now ? Phase.ONLINE : Phase.OFFLINE);
        }

        State checked(boolean withheld) {
            return new State(phase, withheld);
        }
    }

    private record Key(ReadingKind kind, String name) {
    }

    /** A reading as it was seen first, after so many losses of a connection or client. */
    private record Entry(byte[] payload, long modification, long seenNs, long ageAtSightMs, int losses) {
    }

    private final Callable<CuratorFramework> connector;
    private final Map<ReadingKind, String> paths;
    private final TopologyStatuses statuses;
    private final StateChangeLog changes;
    private final LongSupplier clockNs;
    private final LongSupplier wallClockMs;
    private final Map<Key, Entry> entries = new ConcurrentHashMap<>();
    private final Set<ReadingKind> initialized = Collections.synchronizedSet(EnumSet.noneOf(ReadingKind.class));
    private final AtomicReference<State> state = new AtomicReference<>(new State(Phase.IDLE, false));
    private final AtomicInteger losses = new AtomicInteger();
    private final List<AutoCloseable> open = new ArrayList<>();
    private volatile CuratorFramework current;
    private volatile long checkedNs;

    /**
     * Creates an idle cache.
     *
     * @param connector   makes an unstarted ZooKeeper client; called on the cache's own thread
     * @param root        znode that holds {@code nodes} and {@code rates}; neither has to exist
     * @param statuses    is kept up to date with the same client
     * @param changes     logs when the connection comes and goes
     * @param clockNs     monotonic time in ns
     * @param wallClockMs time since 1970 in ms
     */
    ReadingsCache(Callable<CuratorFramework> connector, String root, TopologyStatuses statuses, StateChangeLog changes,
                  LongSupplier clockNs, LongSupplier wallClockMs) {
        this.connector = connector;
        this.paths = Map.of(ReadingKind.NODE, root + "/nodes", ReadingKind.RATES, root + "/rates");
        this.statuses = statuses;
        this.changes = changes;
        this.clockNs = clockNs;
        this.wallClockMs = wallClockMs;
    }

    /** Begins to follow the readings unless it does already, and checks its access now and then; returns at once. */
    void start() {
        State now = state.get();
        switch (now.phase()) {
            case IDLE -> {
                if (state.compareAndSet(now, now.moved(Phase.OFFLINE))) {
                    daemonThread(this::connect, "stormplace-readings").start();
                }
            }
            case ONLINE -> {
                if (clockNs.getAsLong() - checkedNs > ACCESS_CHECK_NS) {
                    checkAccessSoon();
                }
            }
            case OFFLINE, CLOSED -> {
                // The client connects by itself, or never will.
            }
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
        State known = state.get();
        boolean live = known.phase() == Phase.ONLINE && !known.refused() && initialized.size() == paths.size();
        return new View(readings, live);
    }

    /** Returns the statuses of topologies that are known now, by id. */
    Map<String, String> statuses() {
        return statuses.known();
    }

    /** Ends the connection; waits a bounded time, as Nimbus gives its shutdown ten seconds. */
    @Override
    public void close() {
        state.updateAndGet(before -> before.moved(Phase.CLOSED));
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
            if (state.get().phase() == Phase.CLOSED) {
                return;
            }
            try {
                CuratorFramework client = connector.call();
                open.add(0, client);
                current = client;
                client.getConnectionStateListenable().addListener((ignored, event) -> connectionChanged(event.isConnected()));
                client.start();
                for (Map.Entry<ReadingKind, String> path : paths.entrySet()) {
                    follow(client, path.getValue(), (ignored, event) -> changed(path.getKey(), event));
                }
                statuses.clear();
                follow(client, statuses.path(), (ignored, event) -> statuses.changed(event));
            } catch (Exception e) {
                changes.bad(StateChangeLog.Subject.READINGS, "failed",
                    "Stormplace cannot follow the readings in ZooKeeper, and plans without them: " + Text.describe(e), e);
                giveUp();
            }
        }
    }

    /** The listener gets the content of each child; it is not kept beside what the listener keeps. */
    private void follow(CuratorFramework client, String path, TreeCacheListener listener) throws Exception {
        TreeCache cache = TreeCache.newBuilder(client, path).setMaxDepth(1).setCacheData(false).build();
        open.add(0, cache);
        cache.getListenable().addListener(listener);
        cache.start();
    }

    /** Ends the client; the next round makes another one and logs in anew, with what the file holds then. */
    private void giveUp() {
        closeAll();
        losses.incrementAndGet();
        initialized.clear();
        state.updateAndGet(before -> before.moved(Phase.IDLE));
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

    private void connectionChanged(boolean connected) {
        State after = state.updateAndGet(before -> before.connected(connected));
        if (connected) {
            if (after.phase() == Phase.ONLINE) {
                checkAccessSoon();
            }
            return;
        }
        losses.incrementAndGet();
        if (after.phase() != Phase.CLOSED && !after.refused()) {
            changes.bad(StateChangeLog.Subject.READINGS, "disconnected",
                "Stormplace has no connection to ZooKeeper; the readings it has grow older.");
        }
    }

    private void checkAccessSoon() {
        checkedNs = clockNs.getAsLong();
        daemonThread(this::checkAccess, "stormplace-readings-access").start();
    }

    /** Looks for readings that ZooKeeper withholds: the caches would take them for absent ones and report nothing. */
    private void checkAccess() {
        CuratorFramework client = current;
        try {
            for (String path : paths.values()) {
                Optional<String> withheld = withheld(client, path);
                if (withheld.isPresent()) {
                    changes.bad(StateChangeLog.Subject.READINGS, "no access", "Stormplace may not read " + withheld.get()
                        + " in ZooKeeper: it was published with another login than that of " + ShimSettings.ZOOKEEPER_AUTH
                        + "; trying on.");
                    state.updateAndGet(before -> before.checked(true).moved(Phase.OFFLINE));
                    giveUp();
                    return;
                }
            }
            state.updateAndGet(before -> before.checked(false));
            changes.good(StateChangeLog.Subject.READINGS, "Stormplace follows the readings in ZooKeeper.");
        } catch (Exception e) {
            if (state.get().phase() == Phase.ONLINE) {
                changes.bad(StateChangeLog.Subject.READINGS, "unchecked",
                    "Stormplace cannot check whether it may read the readings in ZooKeeper: " + Text.describe(e), e);
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
                    // Any other reading of the folder shows as much.
                }
            }
            return Optional.empty();
        } catch (KeeperException.NoNodeException absent) {
            return Optional.empty();
        } catch (KeeperException.NoAuthException refusal) {
            return Optional.of(asked);
        }
    }

    private void changed(ReadingKind kind, TreeCacheEvent event) {
        if (event.getType() == TreeCacheEvent.Type.INITIALIZED) {
            initialized.add(kind);
        }
        ChildData data = event.getData();
        // Events of the connection have no data and a listener of their own; the folder itself is no reading.
        if (data == null || data.getPath().equals(paths.get(kind))) {
            return;
        }
        Key key = new Key(kind, ZKPaths.getNodeFromPath(data.getPath()));
        if (event.getType() == TreeCacheEvent.Type.NODE_REMOVED) {
            entries.remove(key);
        } else {
            entries.compute(key, (ignored, before) -> entry(before, data));
        }
    }

    private Entry entry(Entry before, ChildData data) {
        long modification = data.getStat().getMzxid();
        if (before != null && before.modification() == modification) {
            return before;
        }
        // While there was no connection a change may have happened long before it is seen.
        boolean firstSight = before == null || before.losses() != losses.get();
        long ageMs = firstSight ? Math.max(0, wallClockMs.getAsLong() - data.getStat().getMtime()) : 0;
        byte[] payload = data.getData() == null ? new byte[0] : data.getData();
        return new Entry(payload, modification, clockNs.getAsLong(), ageMs, losses.get());
    }
}
