package io.stormplace;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.storm.cluster.ClusterUtils;
import org.apache.storm.generated.StormBase;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.storm.shade.org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.storm.shade.org.apache.curator.utils.ZKPaths;
import org.apache.storm.utils.Utils;

/**
 * What Storm keeps in ZooKeeper about topologies: active, deactivated, being killed or rebalanced. Its schedulers do not get to see it.
 *
 * <p>A topology of which nothing can be read has no status. As many are kept as Storm has topologies. Safe for use by several threads.
 */
final class TopologyStatuses {
    private final String path;
    private final Map<String, String> statuses = new ConcurrentHashMap<>();

    /**
     * Creates an empty table.
     *
     * @param stormRoot Storm's own root in ZooKeeper
     */
    TopologyStatuses(String stormRoot) {
        this.path = (stormRoot.equals("/") ? "" : stormRoot) + ClusterUtils.STORMS_SUBTREE;
    }

    /** Returns the znode whose children are the topologies. */
    String path() {
        return path;
    }

    /** Returns the statuses that are known now, by id of the topology. */
    Map<String, String> known() {
        return Map.copyOf(statuses);
    }

    /** Forgets everything: a new client sees all of it again. */
    void clear() {
        statuses.clear();
    }

    /**
     * Takes note of a change.
     *
     * @param event what was seen below {@link #path()}
     */
    void changed(TreeCacheEvent event) {
        ChildData data = event.getData();
        if (data == null || data.getPath().equals(path)) {
            return;
        }
        String id = ZKPaths.getNodeFromPath(data.getPath());
        String status = event.getType() == TreeCacheEvent.Type.NODE_REMOVED ? null : status(data.getData());
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
