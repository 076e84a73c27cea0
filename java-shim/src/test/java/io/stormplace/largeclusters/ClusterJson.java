package io.stormplace.largeclusters;

import io.stormplace.HostNameTopography;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.storm.DaemonConfig;
import org.apache.storm.generated.SharedMemory;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.networktopography.DNSToSwitchMapping;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.scheduler.resource.normalization.NormalizedResourceRequest;
import org.apache.storm.utils.ObjectReader;

/**
 * Clusters and assignments as JSON, for programs that have no Storm.
 *
 * <p>A cluster is an object of
 * <ul>
 * <li>{@code name} and {@code min_worker_cpu} (what a worker counts for at least, percent of a core);
 * <li>{@code hosts}, each with {@code name}, {@code supervisor} (its id), {@code rack}, {@code first_port} and {@code slots} (ports are
 * consecutive), {@code cpu} (percent of a core), {@code memory} (MB) and {@code generic} (amounts of other resources by name);
 * <li>{@code topologies}, each with {@code id}, {@code name}, {@code priority} (0 is the highest), {@code workers} (as the user set it),
 * {@code max_heap} (most on-heap memory of one worker, MB), {@code components}, {@code edges}, {@code shared_memory} and {@code conf}.
 * </ul>
 *
 * <p>{@code components} are in alphabetical order, each with {@code name}, {@code kind} ({@code spout} or {@code bolt}),
 * {@code executors} (their number), {@code first_task} (executors have one task each, numbered on from there), and for each executor
 * {@code cpu}, {@code on_heap}, {@code off_heap} and {@code generic}. {@code edges} holds {@code [source, target, grouping]}, one for each
 * stream that is subscribed to; source and target are positions in {@code components}, the grouping is named as in Storm's Thrift.
 * {@code shared_memory} holds objects of {@code components} (positions), {@code on_heap} and {@code off_heap_worker} (MB, once in each
 * worker that holds an executor of one of them) and {@code off_heap_host} (MB, once on each such host). {@code conf} holds what the
 * resource-aware scheduler reads of the topology's configuration beside these.
 *
 * <p>An assignment is an object of {@code cluster}, {@code scheduler}, {@code hosts} (names) and {@code topologies}, each with {@code id},
 * {@code components} (names) and {@code executors}: {@code [first task, position of the component, position of the host, port]} of each
 * executor that has a slot.
 */
final class ClusterJson {
    private static final List<String> CONF_PREFIXES = List.of("topology.ras.", "topology.scheduler.", "topology.spread.",
        "topology.isolate.");

    private ClusterJson() {
    }

    static Map<String, Object> cluster(BenchmarkCluster cluster, Map<String, Object> nimbusConf) {
        DNSToSwitchMapping racks = new HostNameTopography();
        double minWorkerCpu = ObjectReader.getDouble(nimbusConf.get(DaemonConfig.STORM_WORKER_MIN_CPU_PCORE_PERCENT), 0.0);
        List<Object> hosts = new ArrayList<>();
        for (SupervisorDetails supervisor : cluster.supervisors().values()) {
            String host = supervisor.getHost();
            List<Integer> ports = supervisor.getAllPorts().stream().sorted().toList();
            hosts.add(object("name", host, "supervisor", supervisor.getId(), "rack", racks.resolve(List.of(host)).get(host),
                "first_port", ports.get(0), "slots", ports.size(), "cpu", supervisor.getTotalCpu(),
                "memory", supervisor.getTotalMemory(), "generic", amounts(supervisor.getTotalGenericResources())));
        }
        return object("name", cluster.name(), "min_worker_cpu", minWorkerCpu, "hosts", hosts,
            "topologies", cluster.topologies().stream().map(ClusterJson::topology).toList());
    }

    private static Map<String, Object> topology(TopologyDetails details) {
        StormTopology topology = details.getTopology();
        List<String> names = List.copyOf(BenchmarkCluster.components(topology).keySet());
        SortedMap<String, Object> conf = new TreeMap<>(details.getConf());
        conf.keySet().removeIf(key -> CONF_PREFIXES.stream().noneMatch(key::startsWith));
        return object("id", details.getId(), "name", details.getName(), "priority", details.getTopologyPriority(),
            "workers", details.getNumWorkers(), "max_heap", details.getTopologyWorkerMaxHeapSize(),
            "components", components(details, names), "edges", edges(topology, names),
            "shared_memory", sharedMemory(topology, names), "conf", conf);
    }

    private static List<Object> components(TopologyDetails details, List<String> names) {
        Map<String, List<ExecutorDetails>> executors = new HashMap<>();
        details.getExecutorToComponent().forEach((executor, name) ->
            executors.computeIfAbsent(name, key -> new ArrayList<>()).add(executor));
        List<Object> components = new ArrayList<>();
        int firstTask = 1;
        for (String name : names) {
            List<ExecutorDetails> own = executors.getOrDefault(name, List.of());
            NormalizedResourceRequest demand = own.isEmpty() ? new NormalizedResourceRequest() : details.getTotalResources(own.get(0));
            Map<String, Double> generic = demand.toNormalizedMap();
            NormalizedResourceRequest.removeNonGenericResources(generic);
            components.add(object("name", name, "kind", details.getTopology().get_spouts().containsKey(name) ? "spout" : "bolt",
                "executors", own.size(), "first_task", firstTask, "cpu", demand.getTotalCpu(),
                "on_heap", demand.getOnHeapMemoryMb(), "off_heap", demand.getOffHeapMemoryMb(), "generic", amounts(generic)));
            firstTask += own.size();
        }
        return components;
    }

    private static List<List<Object>> edges(StormTopology topology, List<String> names) {
        List<List<Object>> edges = new ArrayList<>();
        BenchmarkCluster.components(topology).forEach((target, common) -> common.get_inputs().forEach((stream, grouping) -> {
            int source = names.indexOf(stream.get_componentId());
            // ticks and metrics come from parts of the worker itself
            if (source >= 0) {
                edges.add(List.of(source, names.indexOf(target), grouping.getSetField().getFieldName()));
            }
        }));
        edges.sort(Comparator.comparing((List<Object> edge) -> (Integer) edge.get(0)).thenComparing(edge -> (Integer) edge.get(1))
            .thenComparing(edge -> (String) edge.get(2)));
        return edges;
    }

    private static List<Object> sharedMemory(StormTopology topology, List<String> names) {
        List<Object> shared = new ArrayList<>();
        if (topology.is_set_shared_memory() && topology.is_set_component_to_shared_memory()) {
            for (Map.Entry<String, SharedMemory> each : new TreeMap<>(topology.get_shared_memory()).entrySet()) {
                List<Integer> users = names.stream().filter(name -> topology.get_component_to_shared_memory()
                    .getOrDefault(name, Set.of()).contains(each.getKey())).map(names::indexOf).toList();
                shared.add(object("components", users, "on_heap", each.getValue().get_on_heap(),
                    "off_heap_worker", each.getValue().get_off_heap_worker(), "off_heap_host", each.getValue().get_off_heap_node()));
            }
        }
        return shared;
    }

    static Map<String, Object> assignment(BenchmarkCluster cluster, String scheduler, Cluster state) {
        Map<String, Integer> hostIndex = new HashMap<>();
        List<String> hosts = new ArrayList<>();
        List<Object> topologies = new ArrayList<>();
        for (TopologyDetails details : cluster.topologies()) {
            SchedulerAssignment assignment = state.getAssignmentById(details.getId());
            List<String> names = List.copyOf(BenchmarkCluster.components(details.getTopology()).keySet());
            List<List<Integer>> executors = new ArrayList<>();
            Map<ExecutorDetails, WorkerSlot> slots = assignment == null ? Map.of() : assignment.getExecutorToSlot();
            slots.forEach((executor, slot) -> {
                // a slot that no supervisor offers keeps its node's id, so that the check sees it
                SupervisorDetails supervisor = cluster.supervisors().get(slot.getNodeId());
                String host = supervisor == null ? slot.getNodeId() : supervisor.getHost();
                int position = hostIndex.computeIfAbsent(host, key -> {
                    hosts.add(key);
                    return hosts.size() - 1;
                });
                executors.add(List.of(executor.getStartTask(), names.indexOf(details.getComponentFromExecutor(executor)), position,
                    slot.getPort()));
            });
            executors.sort(Comparator.comparing(executor -> executor.get(0)));
            topologies.add(object("id", details.getId(), "components", names, "executors", executors));
        }
        return object("cluster", cluster.name(), "scheduler", scheduler, "hosts", hosts, "topologies", topologies);
    }

    /** A map that keeps the order in which it is written here. */
    static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            object.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return object;
    }

    private static Map<String, Double> amounts(Map<String, Double> resources) {
        Map<String, Double> amounts = new TreeMap<>(resources);
        amounts.values().removeIf(amount -> amount == 0);
        return amounts;
    }
}
