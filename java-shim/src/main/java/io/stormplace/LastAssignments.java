package io.stormplace;

import io.stormplace.wire.Topology;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * Where executors ran in the round before: a rebalance hides a topology's assignment for one round.
 *
 * <p>After a fail-over the new Nimbus reads assignments from ZooKeeper, so nothing has to be kept on disk. A topology that asks for
 * another number of workers is meant to be placed anew and is forgotten. So is an executor whose worker died, at once: Storm hides its
 * port in that round alone, so that its last slot could count in later rounds only, where it may still be what the worker died of.
 * Used by the scheduling thread alone.
 */
final class LastAssignments {
    private record Known(int workers, Map<ExecutorDetails, WorkerSlot> slots) {
    }

    private Map<String, Known> known = new HashMap<>();

    /**
     * Describes where a topology's executors ran, if some of them have no slot now and it is known of any: of each executor that
     * may go back there, and the slots of all others, on which workers may still be about to end.
     *
     * @param topology        its description; gets the last slots
     * @param details         Storm's own description
     * @param order           executors in the order of the request
     * @param supervisorIndex supervisor id to index in the request
     */
    void describe(Topology topology, TopologyDetails details, List<ExecutorDetails> order, Map<String, Integer> supervisorIndex) {
        Known last = known.get(details.getId());
        if (last == null || last.workers() != details.getNumWorkers() || !topology.getExecutor_supervisor().contains(-1)) {
            return;
        }
        describeLeft(topology, last, Set.copyOf(order), supervisorIndex);
        List<Integer> supervisors = new ArrayList<>(order.size());
        List<Integer> ports = new ArrayList<>(order.size());
        for (ExecutorDetails executor : order) {
            WorkerSlot slot = last.slots().get(executor);
            Integer supervisor = slot == null ? null : supervisorIndex.get(slot.getNodeId());
            supervisors.add(supervisor == null ? -1 : supervisor);
            ports.add(supervisor == null ? -1 : slot.getPort());
        }
        topology.setLast_supervisor(supervisors);
        topology.setLast_port(ports);
    }

    private static void describeLeft(Topology topology, Known last, Set<ExecutorDetails> present, Map<String, Integer> supervisorIndex) {
        List<WorkerSlot> left = last.slots().entrySet().stream()
            .filter(each -> !present.contains(each.getKey()) && supervisorIndex.containsKey(each.getValue().getNodeId()))
            .map(Map.Entry::getValue)
            .distinct()
            .sorted(Comparator.comparing(WorkerSlot::getNodeId).thenComparing(WorkerSlot::getPort))
            .toList();
        topology.setLeft_supervisor(left.stream().map(slot -> supervisorIndex.get(slot.getNodeId())).toList());
        topology.setLeft_port(left.stream().map(WorkerSlot::getPort).toList());
    }

    /**
     * Forgets where a topology ran: others are meant to have its slots.
     *
     * @param id the topology
     */
    void forget(String id) {
        known.remove(id);
    }

    /**
     * Returns whether it is known where a topology ran.
     *
     * @param id the topology
     * @return whether some of its executors had a slot
     */
    boolean knows(String id) {
        return known.containsKey(id);
    }

    /**
     * Returns the workers to which a topology that has none can go back as a whole.
     *
     * @param details Storm's description of the topology
     * @param cluster the round's cluster; not changed
     * @return slot to executors; empty if they are not known, if another number of workers or other executors are asked for, or
     *     if one of the slots cannot be had
     */
    Map<WorkerSlot, Set<ExecutorDetails>> workers(TopologyDetails details, Cluster cluster) {
        Known last = known.get(details.getId());
        if (last == null || last.workers() != details.getNumWorkers() || !last.slots().keySet().equals(Set.copyOf(details.getExecutors()))) {
            return Map.of();
        }
        Map<WorkerSlot, Set<ExecutorDetails>> workers = new HashMap<>();
        last.slots().forEach((executor, slot) -> workers.computeIfAbsent(slot, ignored -> new HashSet<>()).add(executor));
        boolean free = workers.keySet().stream().allMatch(slot -> PlanValidator.faults(slot, Set.of(), cluster).isEmpty());
        return free ? workers : Map.of();
    }

    /**
     * Takes note of where executors run; topologies that are gone are forgotten, those without any slot are not.
     *
     * @param topologies all topologies of the round
     * @param cluster    the round's cluster; not changed
     */
    void remember(Topologies topologies, Cluster cluster) {
        Map<String, Known> seen = new HashMap<>();
        for (TopologyDetails topology : topologies) {
            SchedulerAssignment assignment = cluster.getAssignmentById(topology.getId());
            Known last = known.get(topology.getId());
            if (assignment != null && !assignment.getExecutorToSlot().isEmpty()) {
                seen.put(topology.getId(), new Known(topology.getNumWorkers(), Map.copyOf(assignment.getExecutorToSlot())));
            } else if (last != null) {
                seen.put(topology.getId(), last);
            }
        }
        known = seen;
    }
}
