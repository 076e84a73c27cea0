package io.stormplace;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.zookeeper.KeeperException;

/**
 * Follows the children of some znodes with a ZooKeeper client of its own, away from the scheduling thread.
 *
 * <p>A client that cannot be made, or whose login does not open the znodes, is given up; the next round makes another one and logs in
 * anew, with what the file of the login holds then. Nothing is shown before the znodes were found open.
 */
final class ZooKeeperFollower implements AutoCloseable {
    /** Nimbus gives its shutdown ten seconds, and the shim has two followers. */
    private static final long CLOSE_WAIT_MS = 1_500;
    private static final long ACCESS_CHECK_NS = TimeUnit.SECONDS.toNanos(30);

    /** Keeps what is seen; called on ZooKeeper's threads. */
    interface Viewer {
        /** A new client, which may read, begins: it shows everything anew, and says when it has ({@code INITIALIZED}). */
        void begins();

        /**
         * Something was seen.
         *
         * @param path  the znode that is followed
         * @param event what was seen at or below it
         */
        void changed(String path, TreeCacheEvent event);

        /**
         * The connection or the client was lost: what changes until there is another one is seen late.
         *
         * @param refused whether that is because the login does not open the znodes
         */
        void lost(boolean refused);
    }

    /**
     * How log lines name what is followed.
     *
     * @param subject      whose state it is
     * @param what         what is followed
     * @param whileLost    what becomes of it without a connection
     * @param whileRefused why it is withheld, or what becomes of it then
     */
    record Words(StateChangeLog.Subject subject, String what, String whileLost, String whileRefused) {
    }

    /** How far the follower is: {@code IDLE -> OFFLINE <-> ONLINE}, back to {@code IDLE}, and from each to {@code CLOSED}. */
    private enum Phase {
        /** There is no client; the next round makes one. */
        IDLE,
        /** A client is being made, has no connection, or is being given up. */
        OFFLINE,
        /** The client is connected. */
        ONLINE,
        /** The follower has ended; it makes no client any more. */
        CLOSED
    }

    /**
     * The phase, whether the last check of access found a znode withheld, which outlives its client, and the latest client. An event of
     * a client that was given up may come when the next one is connected already: it would be taken for a loss that no event ends.
     */
    private record State(Phase phase, boolean refused, CuratorFramework client) {
        State moved(Phase next) {
            return phase == Phase.CLOSED ? this : new State(next, refused, client);
        }

        State connected(CuratorFramework source, boolean now) {
            return phase == Phase.IDLE || source != client ? this : moved(now ? Phase.ONLINE : Phase.OFFLINE);
        }

        State checked(boolean withheld) {
            return new State(phase, withheld, client);
        }

        State using(CuratorFramework next) {
            return new State(phase, refused, next);
        }
    }

    private final Callable<CuratorFramework> connector;
    private final List<String> paths;
    private final Viewer viewer;
    private final Words words;
    private final StateChangeLog changes;
    private final LongSupplier clockNs;
    private final Threads threads;
    private final Set<String> initialized = Collections.synchronizedSet(new HashSet<>());
    private final AtomicReference<State> state = new AtomicReference<>(new State(Phase.IDLE, false, null));
    private final List<AutoCloseable> open = new ArrayList<>();
    private volatile long checkedNs;

    /**
     * Creates an idle follower.
     *
     * @param connector makes an unstarted ZooKeeper client; called on the follower's own thread
     * @param paths     znodes whose children are followed; none has to exist
     * @param viewer    keeps what is seen
     * @param words     how log lines name it
     * @param changes   logs when the connection comes and goes
     * @param clockNs   monotonic time in ns
     * @param threads   makes the follower's threads
     */
    ZooKeeperFollower(Callable<CuratorFramework> connector, List<String> paths, Viewer viewer, Words words, StateChangeLog changes,
                      LongSupplier clockNs, Threads threads) {
        this.connector = connector;
        this.paths = List.copyOf(paths);
        this.viewer = viewer;
        this.words = words;
        this.changes = changes;
        this.clockNs = clockNs;
        this.threads = threads;
    }

    /** Begins to follow unless it does already, and checks its access now and then; returns at once. */
    void start() {
        State now = state.get();
        switch (now.phase()) {
            case IDLE -> {
                if (state.compareAndSet(now, now.moved(Phase.OFFLINE)) && !begin(this::connect, "")) {
                    state.updateAndGet(before -> before.moved(Phase.IDLE));
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

    /** Returns whether everything that may be seen has been seen and is up to date. */
    boolean live() {
        State known = state.get();
        return known.phase() == Phase.ONLINE && !known.refused() && initialized.size() == paths.size();
    }

    /** Ends the connection; waits a bounded time. */
    @Override
    public void close() {
        state.updateAndGet(before -> before.moved(Phase.CLOSED));
        Thread closing = threads.make(this::closeAll, name("-close"));
        try {
            closing.start();
            closing.join(CLOSE_WAIT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String name(String suffix) {
        return "stormplace-" + words.subject().name().toLowerCase(Locale.ROOT) + suffix;
    }

    /** Begins work on a thread of its own; returns whether there was a thread for it. */
    private boolean begin(Runnable work, String suffix) {
        try {
            threads.make(work, name(suffix)).start();
            return true;
        } catch (RuntimeException | Error e) {
            changes.bad(words.subject(), "no thread", "Stormplace has no thread to follow " + words.what() + " in ZooKeeper: "
                + Text.describe(e), e);
            return false;
        }
    }

    private void connect() {
        synchronized (open) {
            if (state.get().phase() == Phase.CLOSED) {
                return;
            }
            try {
                CuratorFramework client = connector.call();
                open.add(0, client);
                state.updateAndGet(before -> before.using(client));
                client.getConnectionStateListenable().addListener((ignored, event) -> connectionChanged(client, event.isConnected()));
                client.start();
            } catch (Exception | Error e) {
                failed(e);
            }
        }
    }

    /** A client and its caches start threads, which a host may not have; only what is given up is tried again. */
    private void failed(Throwable fault) {
        changes.bad(words.subject(), "failed",
            "Stormplace cannot follow " + words.what() + " in ZooKeeper, and plans without them: " + Text.describe(fault), fault);
        giveUp();
    }

    /**
     * Begins to show what a client sees unless it does already; returns whether that went well. To be called when the client was found to
     * have access: a cache whose reading is refused has set no watch, and would never look again, even after the znodes were opened.
     */
    private boolean show(CuratorFramework client) {
        synchronized (open) {
            if (!showsNothing(client)) {
                return true;
            }
            try {
                viewer.begins();
                for (String path : paths) {
                    follow(client, path);
                }
                return true;
            } catch (Exception | Error e) {
                failed(e);
                return false;
            }
        }
    }

    /** Returns whether a client is the present one and has no caches yet. */
    private boolean showsNothing(CuratorFramework client) {
        synchronized (open) {
            return open.size() == 1 && open.get(0) == client;
        }
    }

    /** The viewer gets the content of each child; it is not kept beside what the viewer keeps. */
    private void follow(CuratorFramework client, String path) throws Exception {
        TreeCache cache = TreeCache.newBuilder(client, path).setMaxDepth(1).setCacheData(false).build();
        open.add(0, cache);
        cache.getListenable().addListener((ignored, event) -> {
            if (event.getType() == TreeCacheEvent.Type.INITIALIZED) {
                initialized.add(path);
            }
            viewer.changed(path, event);
        });
        cache.start();
    }

    private void giveUp() {
        state.updateAndGet(before -> before.moved(Phase.OFFLINE));
        closeAll();
        viewer.lost(state.get().refused());
        initialized.clear();
        state.updateAndGet(before -> before.moved(Phase.IDLE));
    }

    private void closeAll() {
        synchronized (open) {
            for (AutoCloseable resource : open) {
                try {
                    resource.close();
                } catch (Exception | Error e) {
                    changes.bad(words.subject(), "close", "Stormplace cannot close its ZooKeeper client: " + Text.describe(e), e);
                }
            }
            open.clear();
        }
    }

    private void connectionChanged(CuratorFramework client, boolean connected) {
        State after = state.updateAndGet(before -> before.connected(client, connected));
        if (after.client() != client) {
            return;
        }
        if (connected) {
            if (after.phase() == Phase.ONLINE) {
                checkAccessSoon();
            }
            return;
        }
        viewer.lost(false);
        if (after.phase() != Phase.CLOSED && !after.refused()) {
            changes.bad(words.subject(), "disconnected", "Stormplace has no connection to ZooKeeper; " + words.whileLost() + ".");
        }
    }

    private void checkAccessSoon() {
        long now = clockNs.getAsLong();
        checkedNs = now;
        if (!begin(this::checkAccess, "-access")) {
            // Nothing may be shown yet: the next round tries again.
            checkedNs = now - ACCESS_CHECK_NS - 1;
        }
    }

    /** Looks for znodes that ZooKeeper withholds, as the caches would report nothing; where there are none the caches begin. */
    private void checkAccess() {
        CuratorFramework client = state.get().client();
        try {
            for (String path : paths) {
                Optional<String> withheld = withheld(client, path);
                if (withheld.isPresent()) {
                    state.updateAndGet(before -> before.checked(true));
                    changes.bad(words.subject(), "no access", "Stormplace may not read " + withheld.get() + " in ZooKeeper: "
                        + words.whileRefused() + "; trying on.");
                    giveUp();
                    return;
                }
            }
            state.updateAndGet(before -> before.checked(false));
            if (show(client)) {
                changes.good(words.subject(), "Stormplace follows " + words.what() + " in ZooKeeper.");
            }
        } catch (Exception e) {
            if (state.get().phase() == Phase.ONLINE) {
                changes.bad(words.subject(), "unchecked",
                    "Stormplace cannot check whether it may read " + words.what() + " in ZooKeeper: " + Text.describe(e), e);
                if (showsNothing(client)) {
                    // Nothing else would make it begin before the next check.
                    giveUp();
                }
            }
        }
    }

    /** Names the folder, or its first child, if the login does not open any of them. */
    private static Optional<String> withheld(CuratorFramework client, String path) throws Exception {
        String asked = path;
        try {
            for (String name : client.getChildren().forPath(path)) {
                asked = path + "/" + name;
                try {
                    client.getData().forPath(asked);
                    return Optional.empty();
                } catch (KeeperException.NoNodeException gone) {
                    // Any other child shows as much.
                }
            }
            return Optional.empty();
        } catch (KeeperException.NoNodeException absent) {
            return Optional.empty();
        } catch (KeeperException.NoAuthException refusal) {
            return Optional.of(asked);
        }
    }
}
