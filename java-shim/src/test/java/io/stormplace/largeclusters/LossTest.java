package io.stormplace.largeclusters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.SchedulerAssignmentImpl;
import org.apache.storm.scheduler.WorkerSlot;
import org.junit.jupiter.api.Test;

class LossTest {
    private static final Map<String, Object> CONF = BenchmarkCluster.nimbusConf(Map.of());
    private static final BenchmarkCluster TWO = new MadeCluster(3, 1, 2, 4, 1, 2, 1).make("two");
    private static final WorkerSlot FIRST = new WorkerSlot("r000s00001", 6700);
    private static final WorkerSlot SECOND = new WorkerSlot("r000s00001", 6701);
    private static final WorkerSlot THIRD = new WorkerSlot("r000s00002", 6700);

    /** A state in which a topology's executors 1, 2, ... have the given slots; null stands for none. */
    private static Cluster state(WorkerSlot... slots) {
        Map<ExecutorDetails, WorkerSlot> assigned = new HashMap<>();
        for (int task = 1; task <= slots.length; task++) {
            if (slots[task - 1] != null) {
                assigned.put(executor(task), slots[task - 1]);
            }
        }
        String id = TWO.topologies().get(0).getId();
        Map<String, SchedulerAssignment> assignments = Map.of(id, new SchedulerAssignmentImpl(id, assigned, null, null));
        return TWO.state(CONF, TWO.supervisors(), assignments);
    }

    private static ExecutorDetails executor(int task) {
        return new ExecutorDetails(task, task);
    }

    private static List<Integer> between(Cluster before, Cluster after) {
        Loss.Disturbance disturbance = Loss.Disturbance.between(before, after);
        return List.of(disturbance.restarted(), disturbance.moved());
    }

    @Test
    void aWorkerWhoseSetChangesIsRestartedWhole() {
        Cluster before = state(FIRST, FIRST, THIRD, null);
        assertEquals(List.of(0, 0), between(before, before));
        assertEquals(List.of(0, 0), between(before, state(FIRST, FIRST, THIRD, SECOND)));
        assertEquals(List.of(2, 0), between(before, state(FIRST, FIRST, THIRD, FIRST)));
        assertEquals(List.of(2, 1), between(before, state(FIRST, SECOND, THIRD, null)));
        assertEquals(List.of(3, 1), between(before, state(FIRST, THIRD, THIRD, null)));
        assertEquals(List.of(3, 3), between(before, state(null, null, null, null)));
    }

    @Test
    void aLostHostIsTheFullestAndTakesItsExecutorsAlong() {
        Cluster placed = state(FIRST, SECOND, THIRD, THIRD);
        // two hosts have two executors each; the first by id is taken
        Cluster after = Loss.fullestHost(placed).after(TWO, CONF, placed);
        assertFalse(after.getSupervisors().containsKey(FIRST.getNodeId()));
        assertEquals(2, after.getSupervisors().size());
        assertEquals(Set.of(executor(3), executor(4)), after.getAssignments().values().iterator().next().getExecutors());
        assertEquals(THIRD.getNodeId(), Loss.fullestHost(state(FIRST, THIRD, THIRD, null)).host());
    }

    @Test
    void executorsAreLostWhereTheyRun() {
        Cluster placed = state(FIRST, FIRST, THIRD, null);
        // only one of the two topologies runs
        Loss one = Loss.oneInEach(placed, 40, new Random(1));
        assertEquals(2, BenchmarkCluster.placed(one.after(TWO, CONF, placed)));
        assertEquals(3, one.after(TWO, CONF, placed).getSupervisors().size());
        assertEquals(1, BenchmarkCluster.placed(Loss.ofTheLargest(placed, 2, new Random(1)).after(TWO, CONF, placed)));
        assertEquals(0, BenchmarkCluster.placed(Loss.ofTheLargest(placed, 10, new Random(1)).after(TWO, CONF, placed)));
    }
}
