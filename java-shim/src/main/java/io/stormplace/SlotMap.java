package io.stormplace;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.WorkerSlot;

/** A topology's workers as sets, so that they can be compared: Storm keeps lists in no particular order. */
final class SlotMap {
    private SlotMap() {
    }

    /**
     * Reads a topology's workers.
     *
     * @param cluster    a cluster
     * @param topologyId id of a topology, assigned or not
     * @return slot to executors, a copy; without slots that hold no executor
     */
    static Map<WorkerSlot, Set<ExecutorDetails>> of(Cluster cluster, String topologyId) {
        Map<WorkerSlot, Set<ExecutorDetails>> slots = new HashMap<>();
        SchedulerAssignment assignment = cluster.getAssignmentById(topologyId);
        if (assignment != null) {
            assignment.getSlotToExecutors().forEach((slot, executors) -> {
                if (!executors.isEmpty()) {
                    slots.put(slot, new HashSet<>(executors));
                }
            });
        }
        return slots;
    }
}
