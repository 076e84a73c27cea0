package io.stormplace.largeclusters;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.SchedulerAssignmentImpl;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * What a cluster lost between two rounds.
 *
 * @param name      of the scenario
 * @param host      id of the supervisor that is gone, or null
 * @param executors executors that no longer have a slot, by topology; those of the lost host are not listed
 */
record Loss(String name, String host, Map<String, Set<ExecutorDetails>> executors) {

    /** One executor of each of some topologies, drawn at random. */
    static Loss oneInEach(Cluster placed, int topologies, Random random) {
        Map<String, List<ExecutorDetails>> running = running(placed);
        List<String> ids = new ArrayList<>(running.keySet());
        Collections.shuffle(ids, random);
        Map<String, Set<ExecutorDetails>> lost = new HashMap<>();
        for (String id : ids.subList(0, Math.min(topologies, ids.size()))) {
            lost.put(id, Set.of(running.get(id).get(random.nextInt(running.get(id).size()))));
        }
        return new Loss("one_in_each", null, lost);
    }

    /** Executors of the topology that has most, drawn at random. */
    static Loss ofTheLargest(Cluster placed, int executors, Random random) {
        Map<String, List<ExecutorDetails>> running = running(placed);
        String largest = Collections.max(running.keySet(), Comparator.comparingInt(id -> running.get(id).size()));
        List<ExecutorDetails> own = running.get(largest);
        Collections.shuffle(own, random);
        return new Loss("some_of_one", null, Map.of(largest, new HashSet<>(own.subList(0, Math.min(executors, own.size())))));
    }

    /** The host that has most executors. */
    static Loss fullestHost(Cluster placed) {
        Map<String, Integer> executors = new TreeMap<>();
        slots(placed).values().forEach(slots ->
            slots.forEach((slot, own) -> executors.merge(slot.getNodeId(), own.size(), Integer::sum)));
        return new Loss("host_lost", Collections.max(executors.keySet(), Comparator.comparing(executors::get)), Map.of());
    }

    /** The state in which Nimbus hands the cluster to its scheduler after the loss. */
    Cluster after(BenchmarkCluster cluster, Map<String, Object> nimbusConf, Cluster placed) {
        Map<String, SupervisorDetails> alive = new HashMap<>(cluster.supervisors());
        alive.remove(host);
        Map<String, SchedulerAssignment> left = new HashMap<>();
        placed.getAssignments().forEach((id, assignment) -> {
            Map<ExecutorDetails, WorkerSlot> slots = new HashMap<>(assignment.getExecutorToSlot());
            Predicate<ExecutorDetails> gone = executors.getOrDefault(id, Set.of())::contains;
            slots.entrySet().removeIf(entry -> gone.test(entry.getKey()) || entry.getValue().getNodeId().equals(host));
            left.put(id, new SchedulerAssignmentImpl(id, slots, null, null));
        });
        return cluster.state(nimbusConf, alive, left);
    }

    /**
     * What a plan does to executors that ran before it.
     *
     * @param restarted executors of slots whose set of executors is another one now; Storm restarts such a worker
     * @param moved     those of them that have another slot now
     */
    record Disturbance(int restarted, int moved) {
        /** Compares two states; what the state before did not place is not counted. */
        static Disturbance between(Cluster before, Cluster after) {
            Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> now = slots(after);
            int restarted = 0;
            int moved = 0;
            for (Map.Entry<String, Map<WorkerSlot, Set<ExecutorDetails>>> topology : slots(before).entrySet()) {
                Map<WorkerSlot, Set<ExecutorDetails>> own = now.getOrDefault(topology.getKey(), Map.of());
                for (Map.Entry<WorkerSlot, Set<ExecutorDetails>> worker : topology.getValue().entrySet()) {
                    Set<ExecutorDetails> there = own.getOrDefault(worker.getKey(), Set.of());
                    if (!there.equals(worker.getValue())) {
                        restarted += worker.getValue().size();
                        moved += (int) worker.getValue().stream().filter(executor -> !there.contains(executor)).count();
                    }
                }
            }
            return new Disturbance(restarted, moved);
        }
    }

    /** Executors that have a slot, by topology, in the order of ids and tasks. */
    private static Map<String, List<ExecutorDetails>> running(Cluster state) {
        Map<String, List<ExecutorDetails>> running = new TreeMap<>();
        slots(state).forEach((id, slots) -> {
            List<ExecutorDetails> own = new ArrayList<>();
            slots.values().forEach(own::addAll);
            own.sort(Comparator.comparingInt(ExecutorDetails::getStartTask));
            if (!own.isEmpty()) {
                running.put(id, own);
            }
        });
        return running;
    }

    private static Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> slots(Cluster state) {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> slots = new HashMap<>();
        state.getAssignments().forEach((id, assignment) -> {
            Map<WorkerSlot, Set<ExecutorDetails>> own = new HashMap<>();
            assignment.getSlotToExecutors().forEach((slot, executors) -> {
                if (!executors.isEmpty()) {
                    own.put(slot, Set.copyOf(executors));
                }
            });
            slots.put(id, own);
        });
        return slots;
    }
}
