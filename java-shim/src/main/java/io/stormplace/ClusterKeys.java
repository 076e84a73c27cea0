package io.stormplace;

import io.stormplace.wire.placementConstants;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.storm.DaemonConfig;
import org.apache.storm.shade.net.minidev.json.JSONObject;
import org.apache.storm.utils.Utils;

/**
 * The keys of Nimbus' configuration that placements heed, as the daemon gets them.
 *
 * <p>Storm's schedulers also read pools from files of their own beside storm.yaml, and those win. Here these are read once, when
 * Nimbus starts. Pools that a loader of Storm's fetches (files elsewhere, servers) are not read: that can block.
 *
 * @param json   JSON object of keys and values
 * @param faults one sentence for each source that cannot be read
 */
record ClusterKeys(String json, List<String> faults) {
    private static final String LOADER = "scheduler.config.loader.uri";
    /** Files of Storm's resource-aware and multitenant schedulers, by the key that is read from them. */
    private static final Map<String, String> FILES = new TreeMap<>(Map.of(
        DaemonConfig.RESOURCE_AWARE_SCHEDULER_USER_POOLS, "user-resource-pools.yaml",
        DaemonConfig.MULTITENANT_SCHEDULER_USER_POOLS, "multitenant-scheduler.yaml"));

    /**
     * Reads the keys.
     *
     * @param conf Nimbus' configuration
     * @return the keys; a file that cannot be read is a fault, and storm.yaml counts
     */
    static ClusterKeys read(Map<String, Object> conf) {
        return read(conf, name -> Utils.findAndReadConfigFile(name, false));
    }

    static ClusterKeys read(Map<String, Object> conf, Function<String, Map<String, Object>> files) {
        Map<String, Object> keys = new TreeMap<>();
        List<String> faults = new ArrayList<>();
        placementConstants.CLUSTER_KEYS.forEach(key -> {
            Object value = conf.get(key);
            String file = FILES.get(key);
            if (file != null) {
                try {
                    Map<String, Object> own = files.apply(file);
                    value = own != null && own.get(key) != null ? own.get(key) : value;
                } catch (RuntimeException e) {
                    faults.add(file + " cannot be read, " + key + " of storm.yaml counts: " + Text.describe(e));
                }
            }
            if (value != null) {
                keys.put(key, value);
            }
        });
        if (conf.get(LOADER) != null) {
            faults.add(LOADER + " is not read: users' pools come from storm.yaml and the files beside it");
        }
        return new ClusterKeys(JSONObject.toJSONString(keys), List.copyOf(faults));
    }
}
