package io.stormplace.largeclusters;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What is to be measured, as {@code benchmarks/large_clusters/java_side.py} writes it.
 *
 * @param cluster           {@code recorded-01}, or the parameters of a made cluster
 * @param name              name of the cluster in what is written
 * @param folder            where the cluster and the assignments are written
 * @param schedulers        names; none means that the cluster is only written
 * @param nimbus            keys of Nimbus' configuration
 * @param daemonPid         process id of the daemon
 * @param repeats           how often each scheduler runs, on a new cluster each time
 * @param mostRounds        rounds until everything is placed, at most
 * @param pauseMs           time between two of these, ms
 * @param unchangedRounds   rounds in which nothing changed
 * @param unchangedPauseMs  time after each of these where a daemon takes part, ms
 * @param losses            whether the cluster loses executors and a host afterwards
 * @param missingTopologies topologies that lose one executor
 * @param missingExecutors  executors that one topology loses
 * @param seed              of what is drawn
 */
record Spec(Object cluster, String name, String folder, List<String> schedulers, Map<String, Object> nimbus, long daemonPid,
            int repeats, int mostRounds, int pauseMs, int unchangedRounds, int unchangedPauseMs, boolean losses,
            int missingTopologies, int missingExecutors, long seed) {

    /** Reads the specification. */
    @SuppressWarnings("unchecked")
    static Spec of(Map<String, Object> json) {
        return new Spec(json.get("cluster"), (String) json.get("name"), (String) json.get("folder"),
            (List<String>) json.get("schedulers"), new HashMap<>((Map<String, Object>) json.get("nimbus")),
            number(json, "daemon_pid"), number(json, "repeats"),
            number(json, "most_rounds"), number(json, "pause_ms"), number(json, "unchanged_rounds"), number(json, "unchanged_pause_ms"),
            (Boolean) json.get("losses"), number(json, "missing_topologies"), number(json, "missing_executors"), number(json, "seed"));
    }

    /** The same without pauses, for rounds that are not counted. */
    Spec hurried() {
        return new Spec(cluster, name, folder, schedulers, nimbus, daemonPid, repeats, mostRounds, 0, unchangedRounds, 0, losses,
            missingTopologies, missingExecutors, seed);
    }

    /** Builds the cluster, anew at each call. */
    @SuppressWarnings("unchecked")
    BenchmarkCluster build() {
        if (cluster instanceof String recorded) {
            return RecordedCluster.read(recorded.substring(RecordedCluster.PREFIX.length()));
        }
        Map<String, Object> made = (Map<String, Object>) cluster;
        return new MadeCluster(number(made, "hosts"), number(made, "racks"), number(made, "topologies"), number(made, "executors"),
            number(made, "sizes"), number(made, "components"), number(made, "seed")).make(name);
    }

    private static int number(Map<String, Object> json, String key) {
        return ((Number) json.get(key)).intValue();
    }
}
