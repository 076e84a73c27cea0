package io.stormplace.largeclusters;

import io.stormplace.HostNameTopography;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.storm.Config;
import org.apache.storm.daemon.nimbus.Nimbus;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.resource.normalization.ResourceMetrics;
import org.apache.storm.utils.Utils;

/**
 * What Nimbus knows of a cluster, without Nimbus.
 *
 * @param name        name of the cluster
 * @param supervisors by id
 * @param topologies  in the order of their ids
 */
record BenchmarkCluster(String name, SortedMap<String, SupervisorDetails> supervisors, List<TopologyDetails> topologies) {
    static final String OWNER = "owner";

    /** Nimbus' configuration: Storm's defaults, racks by host names, and what is given. */
    static Map<String, Object> nimbusConf(Map<String, Object> given) {
        Map<String, Object> conf = new HashMap<>(Utils.readDefaultConfig());
        conf.put(Config.STORM_NETWORK_TOPOGRAPHY_PLUGIN, HostNameTopography.class.getName());
        conf.putAll(given);
        return conf;
    }

    /**
     * Makes a topology's details. Every task has an executor of its own; tasks are numbered from 1 by components in alphabetical order, as
     * Storm does it. There are no ackers.
     *
     * @param conf the topology's own configuration; Storm's defaults hold for other keys
     */
    static TopologyDetails details(String id, StormTopology topology, Map<String, Object> conf, int workers) {
        Map<ExecutorDetails, String> executors = new HashMap<>();
        int task = 1;
        for (Map.Entry<String, ComponentCommon> component : components(topology).entrySet()) {
            for (int i = 0; i < component.getValue().get_parallelism_hint(); i++, task++) {
                executors.put(new ExecutorDetails(task, task), component.getKey());
            }
        }
        return new TopologyDetails(id, conf, topology, workers, executors, OWNER);
    }

    /** Spouts and bolts by name. */
    static SortedMap<String, ComponentCommon> components(StormTopology topology) {
        SortedMap<String, ComponentCommon> components = new TreeMap<>();
        topology.get_spouts().forEach((name, spout) -> components.put(name, spout.get_common()));
        topology.get_bolts().forEach((name, bolt) -> components.put(name, bolt.get_common()));
        return components;
    }

    int executors() {
        return topologies.stream().mapToInt(topology -> topology.getExecutors().size()).sum();
    }

    /** The state that Nimbus hands to its scheduler. */
    Cluster state(Map<String, Object> nimbusConf, Map<String, SupervisorDetails> alive, Map<String, SchedulerAssignment> assignments) {
        Map<String, TopologyDetails> byId = new HashMap<>();
        topologies.forEach(topology -> byId.put(topology.getId(), topology));
        return new Cluster(new Nimbus.StandaloneINimbus(), new ResourceMetrics(new StormMetricsRegistry()), alive, assignments,
            new Topologies(byId), new HashMap<>(nimbusConf));
    }

    /** How many executors have a slot. */
    static int placed(Cluster state) {
        Collection<SchedulerAssignment> all = state.getAssignments().values();
        return all.stream().mapToInt(assignment -> assignment.getExecutors().size()).sum();
    }
}
