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
 * Writes placements to a cluster, all of a topology or nothing of it.
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
     * @param cluster the cluster to change; left alone if nothing differs
     * @param targets topology id to its complete workers
     * @return topology id to the reason why its placement could not be applied; such topologies are unchanged
     */
    Map<String, String> apply(Cluster cluster, Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets) {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> changed = new TreeMap<>();
        targets.forEach((id, target) -> {
            if (!target.equals(SlotMap.of(cluster, id))) {
                changed.put(id, target);
            }
        });
        Map<String, String> failures = new TreeMap<>();
        if (changed.isEmpty()) {
            return failures;
        }
        Cluster copy = copier.apply(cluster);
        changed.forEach((id, target) -> {
            Map<WorkerSlot, Set<ExecutorDetails>> before = SlotMap.of(copy, id);
            try {
                place(copy, id, before, target);
            } catch (RuntimeException e) {
                failures.put(id, Text.describe(e));
                // A new copy for each failure would take the timer's time without a bound.
                copy.unassign(id);
                before.forEach((slot, executors) -> copy.assign(slot, id, executors));
            }
        });
        if (failures.size() < changed.size()) {
            commit(cluster, copy);
        }
        return failures;
    }

    private static void place(Cluster copy, String id, Map<WorkerSlot, Set<ExecutorDetails>> current,
                              Map<WorkerSlot, Set<ExecutorDetails>> target) {
        current.forEach((slot, executors) -> {
            if (!executors.equals(target.get(slot))) {
                copy.freeSlot(slot);
            }
        });
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
