package io.stormplace;

import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.Supervisor;
import io.stormplace.wire.Topology;
import io.stormplace.wire.placementConstants;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.scheduler.resource.normalization.NormalizedResourceRequest;
import org.apache.storm.shade.net.minidev.json.JSONObject;

/**
 * Turns a round's cluster state into a request, in an order that depends on nothing but names.
 *
 * <p>Of Storm's objects only those getters are used that work inside {@code schedule()}; neither the server port nor the meta
 * of a supervisor is set there. Used by the scheduling thread alone.
 */
final class SnapshotBuilder {
    private static final String SETTINGS_PREFIX = "topology.stormplace.";

    /** Supervisor id to host, as last seen: an assignment may outlive its supervisor, and then only its id is known. */
    private final Map<String, String> hosts = new HashMap<>();
    private final LastAssignments last;
    private final Turns turns;

    /**
     * Creates a builder.
     *
     * @param last where executors ran in the round before
     */
    SnapshotBuilder(LastAssignments last) {
        this.last = last;
        this.turns = new Turns(last);
    }

    /**
     * Describes the cluster.
     *
     * @param roundId    name of the round
     * @param topologies all topologies of the round
     * @param cluster    the round's cluster; not changed
     * @param readings   the readings and drains to send along
     * @param late       whether the time for describing is over, asked before each topology
     * @return the snapshot; topologies that cannot be described, or not in time, are left out with the reason
     */
    Snapshot build(String roundId, Topologies topologies, Cluster cluster, ReadingsCache.View readings, BooleanSupplier late) {
        SortedMap<String, TreeSet<Integer>> ports = portsBySupervisor(topologies, cluster);
        hosts.keySet().retainAll(ports.keySet());
        List<String> supervisorIds = List.copyOf(ports.keySet());
        Resources resources = new Resources();
        Map<String, String> racks = racks(cluster);
        Map<String, Integer> supervisorIndex = new HashMap<>();
        supervisorIds.forEach(id -> supervisorIndex.put(id, supervisorIndex.size()));

        List<Topology> described = new ArrayList<>();
        Map<String, List<ExecutorDetails>> executors = new LinkedHashMap<>();
        Map<String, String> leftOut = new TreeMap<>();
        Turns.Turn turn = turns.next(topologies, cluster);
        for (TopologyDetails details : turn.described()) {
            if (late.getAsBoolean()) {
                leftOut.put(details.getId(), "there was no time to describe it to the daemon");
                continue;
            }
            try {
                List<ExecutorDetails> order = new ArrayList<>(details.getExecutorToComponent().keySet());
                order.sort(SnapshotBuilder::byTasks);
                Topology topology = topology(details, order, cluster, supervisorIndex);
                resources.demand(topology, details, order);
                last.describe(topology, details, order, supervisorIndex);
                described.add(topology);
                executors.put(details.getId(), order);
            } catch (RuntimeException e) {
                // Whatever is odd about one topology must not keep the others from being placed.
                leftOut.put(details.getId(), "cannot be described to the daemon: " + Text.describe(e));
            }
        }
        described.sort(Comparator.comparing(Topology::getId));
        // The daemon sees in no other way that these slots are taken.
        leftOut.keySet().forEach(id ->
            cluster.getUsedSlotsByTopologyId(id).forEach(slot -> ports.get(slot.getNodeId()).remove(slot.getPort())));
        List<Supervisor> supervisors = new ArrayList<>();
        ports.forEach((id, usable) -> supervisors.add(supervisor(id, new ArrayList<>(usable), cluster, resources, racks)));
        PlanRequest request = new PlanRequest(placementConstants.VERSION, roundId, 0, supervisors, described,
            readings.readings(), readings.live());
        if (!readings.drains().isEmpty()) {
            request.setDrains(readings.drains());
        }
        List<String> resourceNames = resources.describe();
        if (!resourceNames.isEmpty()) {
            request.setResource_names(resourceNames);
        }
        return new Snapshot(request, supervisorIds, executors, leftOut, turn.waiting());
    }

    /** Every supervisor that is alive or named by an assignment, with every port that is offered or in use. */
    private static SortedMap<String, TreeSet<Integer>> portsBySupervisor(Topologies topologies, Cluster cluster) {
        SortedMap<String, TreeSet<Integer>> ports = new TreeMap<>();
        for (SupervisorDetails supervisor : cluster.getSupervisors().values()) {
            ports.computeIfAbsent(supervisor.getId(), id -> new TreeSet<>()).addAll(supervisor.getAllPorts());
        }
        for (TopologyDetails topology : topologies) {
            for (WorkerSlot slot : cluster.getUsedSlotsByTopologyId(topology.getId())) {
                ports.computeIfAbsent(slot.getNodeId(), id -> new TreeSet<>()).add(slot.getPort());
            }
        }
        return ports;
    }

    /** Host to rack by Storm's network topography; empty if it knows one rack only. */
    private static Map<String, String> racks(Cluster cluster) {
        Map<String, List<String>> hosts = cluster.getNetworkTopography();
        Map<String, String> racks = new HashMap<>();
        if (hosts != null && hosts.size() > 1) {
            hosts.forEach((rack, members) -> members.forEach(host -> racks.put(host, rack)));
        }
        return racks;
    }

    private Supervisor supervisor(String id, List<Integer> ports, Cluster cluster, Resources resources,
                                  Map<String, String> racks) {
        SupervisorDetails details = cluster.getSupervisorById(id);
        if (details == null) {
            return new Supervisor(id, hosts.getOrDefault(id, id), ports, false, false, 0, 0, Map.of());
        }
        String host = details.getHost() == null ? id : details.getHost();
        hosts.put(id, host);
        Supervisor supervisor = new Supervisor(id, host, ports, true, cluster.isBlackListed(id), details.getTotalCpu(),
            details.getTotalMemory(), meta(details.getSchedulerMeta()));
        supervisor.setRack(racks.get(host));
        resources.offer(supervisor, details.getTotalGenericResources());
        return supervisor;
    }

    private static Map<String, String> meta(Object meta) {
        Map<String, String> result = new TreeMap<>();
        if (meta instanceof Map<?, ?> map) {
            map.forEach((key, value) -> {
                if (key != null && value != null) {
                    result.put(key.toString(), value.toString());
                }
            });
        }
        return result;
    }

    private static Topology topology(TopologyDetails details, List<ExecutorDetails> order, Cluster cluster,
                                     Map<String, Integer> supervisorIndex) {
        ComponentGraph graph = ComponentGraph.of(details.getTopology(), details.getExecutorToComponent().values());
        Topology topology = new Topology();
        topology.setId(details.getId());
        topology.setName(details.getName() == null ? "" : details.getName());
        topology.setNum_workers(details.getNumWorkers());
        topology.setSettings_json(settings(details.getConf()));
        topology.setStorm_json(stormSettings(details.getConf()));
        topology.setLaunched_s(details.getLaunchTime());
        topology.setOwner(details.getTopologySubmitter());
        topology.setComponent_names(graph.names());
        topology.setComponent_kinds(graph.kinds().stream().map(kind -> kind.getValue()).toList());
        topology.setStream_from(graph.streams().stream().map(ComponentGraph.Stream::from).toList());
        topology.setStream_to(graph.streams().stream().map(ComponentGraph.Stream::to).toList());
        topology.setStream_ids(graph.streams().stream().map(ComponentGraph.Stream::id).toList());
        topology.setStream_groupings(graph.streams().stream().map(stream -> stream.grouping().getValue()).toList());
        describeExecutors(topology, details, order, graph, supervisorIndex, cluster.getAssignmentById(details.getId()));
        return topology;
    }

    /** One pass, and one look into each of Storm's maps for each executor: there may be tens of thousands. */
    private static void describeExecutors(Topology topology, TopologyDetails details, List<ExecutorDetails> order, ComponentGraph graph,
                                          Map<String, Integer> supervisorIndex, SchedulerAssignment assignment) {
        Map<String, Integer> componentIndex = new HashMap<>();
        graph.names().forEach(name -> componentIndex.put(name, componentIndex.size()));
        Map<ExecutorDetails, String> components = details.getExecutorToComponent();
        Map<ExecutorDetails, WorkerSlot> slots = assignment == null ? Map.of() : assignment.getExecutorToSlot();
        int count = order.size();
        List<Integer> firstTasks = new ArrayList<>(count);
        List<Integer> lastTasks = new ArrayList<>(count);
        List<Integer> componentIndices = new ArrayList<>(count);
        List<Double> cpu = new ArrayList<>(count);
        List<Double> memory = new ArrayList<>(count);
        List<Integer> supervisors = new ArrayList<>(count);
        List<Integer> ports = new ArrayList<>(count);
        for (ExecutorDetails executor : order) {
            firstTasks.add(executor.getStartTask());
            lastTasks.add(executor.getEndTask());
            componentIndices.add(componentIndex.get(components.get(executor)));
            NormalizedResourceRequest needed = details.getTotalResources(executor);
            cpu.add(needed == null ? 0 : needed.getTotalCpu());
            memory.add(needed == null ? 0 : needed.getTotalMemoryMb());
            WorkerSlot slot = slots.get(executor);
            supervisors.add(slot == null ? -1 : supervisorIndex.get(slot.getNodeId()));
            ports.add(slot == null ? -1 : slot.getPort());
        }
        topology.setExecutor_first_task(firstTasks);
        topology.setExecutor_last_task(lastTasks);
        topology.setExecutor_component(componentIndices);
        topology.setExecutor_cpu_percent(cpu);
        topology.setExecutor_memory_mb(memory);
        topology.setExecutor_supervisor(supervisors);
        topology.setExecutor_port(ports);
    }

    private static int byTasks(ExecutorDetails one, ExecutorDetails other) {
        int first = Integer.compare(one.getStartTask(), other.getStartTask());
        return first != 0 ? first : Integer.compare(one.getEndTask(), other.getEndTask());
    }

    private static String settings(Map<String, Object> conf) {
        Map<String, Object> settings = new TreeMap<>();
        conf.forEach((key, value) -> {
            if (key.startsWith(SETTINGS_PREFIX)) {
                settings.put(key, value);
            }
        });
        return JSONObject.toJSONString(settings);
    }

    private static String stormSettings(Map<String, Object> conf) {
        Map<String, Object> settings = new TreeMap<>();
        placementConstants.STORM_KEYS.forEach(key -> {
            if (conf.get(key) != null) {
                settings.put(key, conf.get(key));
            }
        });
        return JSONObject.toJSONString(settings);
    }
}
