package io.stormplace;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * Finds slots for the missing executors of topologies whose other executors run.
 *
 * <p>Storm's schedulers cannot be asked: the default one frees every worker that has more executors than an even spread over
 * the wanted number of workers allows, and so restarts healthy ones. Here every worker stays exactly as it is. The missing
 * executors join as few new workers as their memory allows, near the running ones; like the fallback scheduler, this knows no
 * pins. Memory is what executors request; memory that they share is not counted.
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
     * Deals the missing executors over new workers on free slots.
     *
     * <p>A worker's heap stays within {@code topology.worker.max.heap.size.mb} and the worker within the memory that is left on
     * its supervisor, unless one executor alone needs more, no supervisor has room for even one, or slots run out: an
     * executor that Storm's own scheduler would place is never left out.
     *
     * @param cluster    the round's cluster; not changed
     * @param topologies the topologies that run in part; an earlier one's new slots are not given to a later one
     * @return topology id to its complete workers, old and new; without the topologies for which no slot is free
     */
    static Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> deal(Cluster cluster,
                                                                   Collection<TopologyDetails> topologies) {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets = new TreeMap<>();
        FreeSlots free = new FreeSlots(cluster);
        List<TopologyDetails> ordered = new ArrayList<>(topologies);
        ordered.sort(Comparator.comparing(TopologyDetails::getId));
        for (TopologyDetails topology : ordered) {
            Map<WorkerSlot, Set<ExecutorDetails>> workers = SlotMap.of(cluster, topology.getId());
            int before = workers.size();
            addWorkers(workers, missing(cluster, topology), topology, free);
            if (workers.size() > before) {
                targets.put(topology.getId(), workers);
            }
        }
        return targets;
    }

    /** The missing executors, large ones first, as small ones fill up workers better; alike ones in the order of their tasks. */
    private static List<ExecutorDetails> missing(Cluster cluster, TopologyDetails topology) {
        List<ExecutorDetails> missing = new ArrayList<>(cluster.getUnassignedExecutors(topology));
        missing.sort(Comparator.comparingDouble((ExecutorDetails executor) -> -memoryMb(topology, executor))
            .thenComparingInt(ExecutorDetails::getStartTask).thenComparingInt(ExecutorDetails::getEndTask));
        return missing;
    }

    private static void addWorkers(Map<WorkerSlot, Set<ExecutorDetails>> workers, List<ExecutorDetails> missing,
                                   TopologyDetails topology, FreeSlots free) {
        FreeSlots.Near near = free.near(workers.keySet());
        List<Set<ExecutorDetails>> added = new ArrayList<>();
        int next = 0;
        while (next < missing.size()) {
            List<ExecutorDetails> worker = missing.subList(next, end(missing, next, topology, free.mostMemoryMb()));
            WorkerSlot slot = near.take(worker.stream().mapToDouble(executor -> memoryMb(topology, executor)).sum());
            if (slot == null) {
                break;
            }
            added.add(new HashSet<>(worker));
            workers.put(slot, added.get(added.size() - 1));
            next += worker.size();
        }
        for (; next < missing.size() && !added.isEmpty(); next++) {
            added.get(next % added.size()).add(missing.get(next));
        }
    }

    /** Where a worker that begins with an executor has to end: before what its heap or the memory left does not hold. */
    private static int end(List<ExecutorDetails> missing, int first, TopologyDetails topology, double memoryLeftMb) {
        double heapLeft = Objects.requireNonNullElse(topology.getTopologyWorkerMaxHeapSize(), Double.POSITIVE_INFINITY);
        double memoryLeft = memoryMb(topology, missing.get(first)) > memoryLeftMb ? Double.POSITIVE_INFINITY : memoryLeftMb;
        int end = first;
        do {
            heapLeft -= orZero(topology.getOnHeapMemoryRequirement(missing.get(end)));
            memoryLeft -= memoryMb(topology, missing.get(end));
            end++;
        } while (end < missing.size() && heapLeft >= orZero(topology.getOnHeapMemoryRequirement(missing.get(end)))
            && memoryLeft >= memoryMb(topology, missing.get(end)));
        return end;
    }

    private static double memoryMb(TopologyDetails topology, ExecutorDetails executor) {
        return orZero(topology.getTotalMemReqTask(executor));
    }

    private static double orZero(Double value) {
        return value == null ? 0 : value;
    }
}
