package io.stormplace;

import io.stormplace.wire.Drain;
import io.stormplace.wire.Reading;
import io.stormplace.wire.ReadingKind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.curator.utils.ZKPaths;

/**
 * Keeps the readings in ZooKeeper up to date by watches, away from the scheduling thread.
 *
 * <p>Texts are passed on unread; large ones are packed in their znodes and unpacked on the thread that sees the change, once per change, so
 * that a round does not wait for it. A reading's age runs on the monotonic clock from the moment when its change was seen. For a
 * reading that is older than the connection, only the znode's modification time gives its age. Readings of a lost connection
 * are kept: they grow older, and the daemon decides when they are too old.
 */
final class ReadingsCache implements ZooKeeperFollower.Viewer, AutoCloseable {
    private static final ZooKeeperFollower.Words WORDS = new ZooKeeperFollower.Words(StateChangeLog.Subject.READINGS, "the readings",
        "the readings it has grow older", "it was published with another login than that of " + ShimSettings.ZOOKEEPER_AUTH);

    /** What a round sends along: readings in the order of kind and name, drains by place, and whether ZooKeeper is connected. */
    record View(List<Reading> readings, List<Drain> drains, boolean live) {
    }

    private record Key(ReadingKind kind, String name) {
    }

    /** A reading as it was seen first, after so many losses of a connection or client. */
    private record Entry(byte[] payload, long modification, long seenNs, long ageAtSightMs, int losses) {
        long ageMs(long nowNs) {
            return ageAtSightMs + TimeUnit.NANOSECONDS.toMillis(nowNs - seenNs);
        }
    }

    private final Map<String, ReadingKind> kinds;
    private final String drainsPath;
    private final LongSupplier clockNs;
    private final LongSupplier wallClockMs;
    private final Map<Key, Entry> entries = new ConcurrentHashMap<>();
    private final Map<String, Entry> drains = new ConcurrentHashMap<>();
    /** Drains that the present client has shown: the others were taken back while no one looked, and never grow too old. */
    private volatile Set<String> shownDrains = ConcurrentHashMap.newKeySet();
    private final AtomicInteger losses = new AtomicInteger();
    private final ZooKeeperFollower follower;

    /**
     * Creates an idle cache.
     *
     * @param connector   makes an unstarted ZooKeeper client; called on the cache's own thread
     * @param root        znode that holds {@code nodes}, {@code rates} and {@code drains}; none has to exist
     * @param changes     logs when the connection comes and goes
     * @param clockNs     monotonic time in ns
     * @param wallClockMs time since 1970 in ms
     * @param threads     makes the cache's threads
     */
    ReadingsCache(Callable<CuratorFramework> connector, String root, StateChangeLog changes, LongSupplier clockNs,
                  LongSupplier wallClockMs, Threads threads) {
        this.kinds = Map.of(root + "/nodes", ReadingKind.NODE, root + "/rates", ReadingKind.RATES);
        this.drainsPath = root + "/drains";
        this.clockNs = clockNs;
        this.wallClockMs = wallClockMs;
        List<String> paths = List.of(root + "/nodes", root + "/rates", drainsPath);
        this.follower = new ZooKeeperFollower(connector, paths, this, WORDS, changes, clockNs, threads);
    }

    /** Begins to follow the readings unless it does already, and checks its access now and then; returns at once. */
    void start() {
        follower.start();
    }

    /**
     * Returns what is known now.
     *
     * @return readings and drains with their ages
     */
    View view() {
        long now = clockNs.getAsLong();
        List<Reading> readings = new ArrayList<>();
        entries.forEach((key, entry) -> {
            Reading reading = new Reading();
            reading.setKind(key.kind());
            reading.setName(key.name());
            reading.setPayload(entry.payload());
            reading.setAge_ms(entry.ageMs(now));
            readings.add(reading);
        });
        readings.sort(Comparator.comparing(Reading::getKind).thenComparing(Reading::getName));
        return new View(readings, drains(), follower.live());
    }

    /** Returns the hosts and sites that are to be emptied, by place, with the ages of their drains. */
    List<Drain> drains() {
        long now = clockNs.getAsLong();
        List<Drain> places = new ArrayList<>();
        drains.forEach((place, entry) -> places.add(new Drain(place, ByteBuffer.wrap(entry.payload()), entry.ageMs(now))));
        places.sort(Comparator.comparing(Drain::getPlace));
        return places;
    }

    /** Ends the connection; waits a bounded time. */
    @Override
    public void close() {
        follower.close();
    }

    @Override
    public void begins() {
        // A reading that is gone meanwhile grows older.
        shownDrains = ConcurrentHashMap.newKeySet();
    }

    @Override
    public void lost(boolean refused) {
        losses.incrementAndGet();
    }

    @Override
    public void changed(String path, TreeCacheEvent event) {
        boolean drain = path.equals(drainsPath);
        if (drain && event.getType() == TreeCacheEvent.Type.INITIALIZED) {
            drains.keySet().retainAll(shownDrains);
        }
        ChildData data = event.getData();
        // Events of the connection have no data and a listener of their own; the folder itself is no reading.
        if (data == null || data.getPath().equals(path)) {
            return;
        }
        String name = ZKPaths.getNodeFromPath(data.getPath());
        boolean removed = event.getType() == TreeCacheEvent.Type.NODE_REMOVED;
        if (drain) {
            if (removed) {
                shownDrains.remove(name);
            } else {
                shownDrains.add(name);
            }
            keep(drains, name, removed ? null : data);
        } else {
            keep(entries, new Key(kinds.get(path), name), removed ? null : data);
        }
    }

    private <K> void keep(Map<K, Entry> table, K key, ChildData data) {
        table.compute(key, (ignored, before) -> data == null ? null : entry(before, data));
    }

    private Entry entry(Entry before, ChildData data) {
        long modification = data.getStat().getMzxid();
        if (before != null && before.modification() == modification) {
            return before;
        }
        // While there was no connection a change may have happened long before it is seen.
        boolean firstSight = before == null || before.losses() != losses.get();
        long ageMs = firstSight ? Math.max(0, wallClockMs.getAsLong() - data.getStat().getMtime()) : 0;
        byte[] payload = data.getData() == null ? new byte[0] : PackedContent.unpack(data.getData());
        return new Entry(payload, modification, clockNs.getAsLong(), ageMs, losses.get());
    }
}
