package io.stormplace;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * The free slots of a cluster and the memory that Storm counts as left beside them; a slot is taken once.
 *
 * <p>Taking a slot costs the logarithm of the number of supervisors, and a look at each rack.
 */
final class FreeSlots {
    /** A supervisor with free slots. */
    private static final class Node {
        private final String id;
        private final String rack;
        private final Deque<Integer> ports;
        private double memoryMb;

        Node(String id, String rack, Collection<Integer> ports, double memoryMb) {
            this.id = id;
            this.rack = rack;
            this.ports = new ArrayDeque<>(ports);
            this.memoryMb = memoryMb;
        }
    }

    private static final Comparator<Node> ROOMIEST_FIRST =
        Comparator.comparingDouble((Node node) -> -node.memoryMb).thenComparing(node -> node.id);

    private final Cluster cluster;
    private final Map<String, String> racks = new HashMap<>();
    private final Map<String, List<Node>> byHost = new HashMap<>();
    private final Map<String, NavigableSet<Node>> byRack = new TreeMap<>();

    /**
     * Collects the free slots.
     *
     * @param cluster the round's cluster; not changed
     */
    FreeSlots(Cluster cluster) {
        this.cluster = cluster;
        cluster.getNetworkTopography().forEach((rack, hosts) -> hosts.forEach(host -> racks.put(host, rack)));
        for (SupervisorDetails supervisor : cluster.getSupervisors().values()) {
            Set<Integer> ports = new TreeSet<>(cluster.getAvailablePorts(supervisor));
            if (!ports.isEmpty()) {
                Node node = new Node(supervisor.getId(), rack(supervisor), ports,
                    supervisor.getTotalMemory() - cluster.getScheduledMemoryForNode(supervisor.getId()));
                byHost.computeIfAbsent(supervisor.getHost(), host -> new ArrayList<>()).add(node);
                byRack.computeIfAbsent(node.rack, rack -> new TreeSet<>(ROOMIEST_FIRST)).add(node);
            }
        }
    }

    /**
     * Returns the most memory that is left beside a free slot.
     *
     * @return memory in MB, negative where supervisors are overbooked; minus infinity without a free slot
     */
    double mostMemoryMb() {
        Node node = roomiest(byRack.values());
        return node == null ? Double.NEGATIVE_INFINITY : node.memoryMb;
    }

    /**
     * Looks at the slots from the workers of one topology.
     *
     * @param workers slots of the topology's workers
     * @return the view; of several only the newest may take slots
     */
    Near near(Collection<WorkerSlot> workers) {
        return new Near(workers);
    }

    private String rack(SupervisorDetails supervisor) {
        return Objects.requireNonNullElse(racks.get(supervisor.getHost()), "");
    }

    private static Node roomiest(Collection<NavigableSet<Node>> sets) {
        return sets.stream().filter(set -> !set.isEmpty()).map(NavigableSet::first).min(ROOMIEST_FIRST).orElse(null);
    }

    /** The free slots as seen from a topology: those on hosts of its workers, in their racks, elsewhere. */
    final class Near {
        private final NavigableSet<Node> hosts = new TreeSet<>(ROOMIEST_FIRST);
        private final Set<String> ownRacks = new HashSet<>();

        private Near(Collection<WorkerSlot> workers) {
            for (WorkerSlot worker : workers) {
                SupervisorDetails supervisor = cluster.getSupervisorById(worker.getNodeId());
                if (supervisor != null) {
                    ownRacks.add(rack(supervisor));
                    for (Node node : byHost.getOrDefault(supervisor.getHost(), List.of())) {
                        if (!node.ports.isEmpty()) {
                            hosts.add(node);
                        }
                    }
                }
            }
        }

        /**
         * Takes a slot for a new worker: the nearest with enough memory, else the one with the most. Among equally near ones the
         * supervisor with the most memory left counts. The new worker is one of the topology's from now on.
         *
         * @param memoryMb memory of the worker
         * @return the slot; null if none is free
         */
        WorkerSlot take(double memoryMb) {
            List<NavigableSet<Node>> rackmates =
                ownRacks.stream().map(byRack::get).filter(Objects::nonNull).toList();
            Node node = null;
            for (Collection<NavigableSet<Node>> tier : List.of(List.of(hosts), rackmates, byRack.values())) {
                node = roomiest(tier);
                if (node != null && node.memoryMb >= memoryMb) {
                    break;
                }
            }
            if (node == null) {
                return null;
            }
            // Both sets are ordered by what changes here.
            hosts.remove(node);
            byRack.get(node.rack).remove(node);
            ownRacks.add(node.rack);
            node.memoryMb -= memoryMb;
            WorkerSlot slot = new WorkerSlot(node.id, node.ports.poll());
            if (!node.ports.isEmpty()) {
                hosts.add(node);
                byRack.get(node.rack).add(node);
            }
            return slot;
        }
    }
}
