package io.stormplace;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * Finds slots for the missing executors of topologies whose other executors run.
 *
 * <p>Storm's schedulers cannot be asked: the default one frees every worker that has more executors than an even spread over
 * the wanted number of workers allows, and so restarts healthy ones. Here every worker stays exactly as it is. The missing
 * executors get new workers on free slots; like the fallback scheduler, this knows neither pins nor capacities.
 */
final class MissingExecutors {
    private MissingExecutors() {
    }

    /**
     * Returns whether a topology runs in part.
     *
     * @param cluster  the round's cluster
     * @param topology a topology with unassigned executors
     * @return whether some of its executors are assigned, and none that it does not have any more
     */
    static boolean concerns(Cluster cluster, TopologyDetails topology) {
        Collection<Set<ExecutorDetails>> workers = SlotMap.of(cluster, topology.getId()).values();
        return !workers.isEmpty() && workers.stream().allMatch(topology.getExecutors()::containsAll);
    }

    /**
     * Deals the missing executors over free slots: round robin over the hosts, at most one new worker on each of them.
     *
     * @param cluster    the round's cluster; not changed
     * @param topologies the topologies that run in part; an earlier one's new slots are not given to a later one
     * @return topology id to its complete workers, old and new; without the topologies for which no slot is free
     */
    static Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> deal(Cluster cluster,
                                                                   Collection<TopologyDetails> topologies) {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets = new TreeMap<>();
        List<WorkerSlot> free = new ArrayList<>(cluster.getAvailableSlots());
        free.sort(Comparator.comparing(WorkerSlot::getNodeId).thenComparing(WorkerSlot::getPort));
        List<TopologyDetails> ordered = new ArrayList<>(topologies);
        ordered.sort(Comparator.comparing(TopologyDetails::getId));
        for (TopologyDetails topology : ordered) {
            List<WorkerSlot> chosen = onePerHost(cluster, free);
            if (chosen.isEmpty()) {
                break;
            }
            List<ExecutorDetails> missing = new ArrayList<>(cluster.getUnassignedExecutors(topology));
            missing.sort(Comparator.comparingInt(ExecutorDetails::getStartTask)
                .thenComparingInt(ExecutorDetails::getEndTask));
            Map<WorkerSlot, Set<ExecutorDetails>> workers = new HashMap<>(SlotMap.of(cluster, topology.getId()));
            for (int i = 0; i < missing.size(); i++) {
                WorkerSlot slot = chosen.get(i % chosen.size());
                workers.computeIfAbsent(slot, ignored -> new HashSet<>()).add(missing.get(i));
                free.remove(slot);
            }
            targets.put(topology.getId(), workers);
        }
        return targets;
    }

    /** The first free slot of every host; the host with the most free slots first, then by name. */
    private static List<WorkerSlot> onePerHost(Cluster cluster, List<WorkerSlot> free) {
        Map<String, List<WorkerSlot>> byHost = new TreeMap<>();
        for (WorkerSlot slot : free) {
            SupervisorDetails supervisor = cluster.getSupervisorById(slot.getNodeId());
            boolean named = supervisor != null && supervisor.getHost() != null;
            byHost.computeIfAbsent(named ? supervisor.getHost() : slot.getNodeId(), host -> new ArrayList<>()).add(slot);
        }
        List<List<WorkerSlot>> hosts = new ArrayList<>(byHost.values());
        hosts.sort(Comparator.comparingInt((List<WorkerSlot> slots) -> slots.size()).reversed());
        return hosts.stream().map(slots -> slots.get(0)).toList();
    }
}
