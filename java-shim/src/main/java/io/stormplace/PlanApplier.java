package io.stormplace;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * Writes placements to a cluster, all of a topology or nothing of it; evictions with what they are for, or not at all.
 *
 * <p>Changes are made on a copy; only a copy that is complete is committed. A worker whose executors stay the same is not
 * touched, as supervisors restart whatever is reassigned differently.
 */
final class PlanApplier {
    private final UnaryOperator<Cluster> copier;

    /** Creates an applier. */
    PlanApplier() {
        this(Cluster::new);
    }

    PlanApplier(UnaryOperator<Cluster> copier) {
        this.copier = copier;
    }

    /**
     * Applies placements.
     *
     * @param cluster  the cluster to change; left alone if nothing differs
     * @param targets  topology id to its complete workers; none if all its slots are to be freed
     * @param together ids of topologies that are changed before the others and all of them or none, as some of them need the
     *                 slots of others
     * @return topology id to the reason why its placement could not be applied; such topologies are unchanged
     */
    Map<String, String> apply(Cluster cluster, Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets, Set<String> together) {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> joint = new TreeMap<>();
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> single = new TreeMap<>();
        targets.forEach((id, target) -> {
            if (!target.equals(SlotMap.of(cluster, id))) {
                (together.contains(id) ? joint : single).put(id, target);
            }
        });
        Map<String, String> failures = new TreeMap<>();
        if (joint.isEmpty() && single.isEmpty()) {
            return failures;
        }
        Cluster copy = copier.apply(cluster);
        place(copy, joint, failures);
        single.forEach((id, target) -> place(copy, Map.of(id, target), failures));
        if (failures.size() < joint.size() + single.size()) {
            commit(cluster, copy);
        }
        return failures;
    }

    /** Places all of some topologies, or notes for each of them why none is changed. */
    private static void place(Cluster copy, Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets,
                              Map<String, String> failures) {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> before = new TreeMap<>();
        targets.keySet().forEach(id -> before.put(id, SlotMap.of(copy, id)));
        try {
            targets.forEach((id, target) -> before.get(id).forEach((slot, executors) -> {
                if (!executors.equals(target.get(slot))) {
                    copy.freeSlot(slot);
                }
            }));
            targets.forEach((id, target) -> assign(copy, id, before.get(id), target));
        } catch (RuntimeException e) {
            // A new copy for each failure would take the timer's time without a bound.
            before.keySet().forEach(copy::unassign);
            before.forEach((id, slots) -> {
                failures.put(id, Text.describe(e));
                assign(copy, id, Map.of(), slots);
            });
        }
    }

    private static void assign(Cluster copy, String id, Map<WorkerSlot, Set<ExecutorDetails>> current,
                               Map<WorkerSlot, Set<ExecutorDetails>> target) {
        target.forEach((slot, executors) -> {
            if (!executors.equals(current.get(slot))) {
                copy.assign(slot, id, executors);
            }
        });
    }

    /**
     * Commits a copy; puts the cluster back if that fails midway.
     *
     * @param cluster the cluster to change
     * @param copy    a changed copy of it
     */
    static void commit(Cluster cluster, Cluster copy) {
        Map<String, SchedulerAssignment> assignments = cluster.getAssignments();
        Map<String, String> statuses = new HashMap<>(cluster.getStatusMap());
        try {
            cluster.updateFrom(copy);
        } catch (Throwable t) {
            cluster.setAssignments(assignments, true);
            cluster.setStatusMap(statuses);
            throw t;
        }
    }
}
