package io.stormplace;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.storm.cluster.ClusterUtils;
import org.apache.storm.generated.StormBase;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.curator.utils.ZKPaths;
import org.apache.storm.utils.Utils;

/**
 * What Storm keeps in ZooKeeper about topologies: active, deactivated, being killed or rebalanced. Its schedulers do not get to see it.
 *
 * <p>It is read as Nimbus, which writes it: the readings' login may be another one. A topology of which nothing can be read has no
 * status. As many are kept as Storm has topologies. While there is no connection, or another client reads everything again, the table
 * stays as it was, as a plan holds only while it does. Safe for use by several threads.
 */
final class TopologyStatuses implements ZooKeeperFollower.Viewer, AutoCloseable {
    /** Storm's own default of its root in ZooKeeper. */
    private static final String DEFAULT_ROOT = "/storm";
    private static final ZooKeeperFollower.Words WORDS = new ZooKeeperFollower.Words(StateChangeLog.Subject.STATUSES,
        "the statuses of topologies", "topologies keep the statuses that it has", "topologies without a known status count as active");

    private final Map<String, String> statuses = new ConcurrentHashMap<>();
    private final ZooKeeperFollower follower;
    /** Topologies that the present client has shown, whatever could be read of them. */
    private volatile Set<String> shown = ConcurrentHashMap.newKeySet();

    /**
     * Creates an empty table.
     *
     * @param connector makes an unstarted ZooKeeper client; called on the table's own thread
     * @param stormRoot Storm's own root in ZooKeeper; its default counts in the place of what is no text
     * @param changes   logs when statuses can and cannot be read
     * @param clockNs   monotonic time in ns
     * @param threads   makes the table's threads
     */
    TopologyStatuses(Callable<CuratorFramework> connector, Object stormRoot, StateChangeLog changes, LongSupplier clockNs,
                     Threads threads) {
        String root = stormRoot instanceof String text ? text : DEFAULT_ROOT;
        String path = (root.equals("/") ? "" : root) + ClusterUtils.STORMS_SUBTREE;
        this.follower = new ZooKeeperFollower(connector, List.of(path), this, WORDS, changes, clockNs, threads);
    }

    /** Begins to follow the statuses unless it does already; returns at once. */
    void start() {
        follower.start();
    }

    /** Returns the statuses that are known now, by id of the topology. */
    Map<String, String> known() {
        return Map.copyOf(statuses);
    }

    /** Ends the connection; waits a bounded time. */
    @Override
    public void close() {
        follower.close();
    }

    @Override
    public void begins() {
        shown = ConcurrentHashMap.newKeySet();
    }

    @Override
    public void lost(boolean refused) {
        if (refused) {
            statuses.clear();
        }
    }

    @Override
    public void changed(String path, TreeCacheEvent event) {
        if (event.getType() == TreeCacheEvent.Type.INITIALIZED) {
            statuses.keySet().retainAll(shown);
        }
        ChildData data = event.getData();
        if (data == null || data.getPath().equals(path)) {
            return;
        }
        String id = ZKPaths.getNodeFromPath(data.getPath());
        String status = null;
        if (event.getType() == TreeCacheEvent.Type.NODE_REMOVED) {
            shown.remove(id);
        } else {
            shown.add(id);
            status = status(data.getData());
        }
        if (status == null) {
            statuses.remove(id);
        } else {
            statuses.put(id, status);
        }
    }

    private static String status(byte[] base) {
        try {
            StormBase topology = Utils.deserialize(base, StormBase.class);
            return topology == null || topology.get_status() == null ? null : topology.get_status().name();
        } catch (RuntimeException e) {
            // Whatever a later Storm writes there: a plan without statuses is what there was before they were read.
            return null;
        }
    }
}
