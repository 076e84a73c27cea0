package io.stormplace;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.DeflaterOutputStream;
import org.apache.storm.Config;
import org.apache.storm.daemon.nimbus.Nimbus;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.SchedulerAssignmentImpl;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.scheduler.resource.normalization.ResourceMetrics;
import org.apache.storm.testing.TestWordCounter;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;
import org.apache.storm.utils.Utils;

/** Builds Storm's own cluster objects as Nimbus does it before a round. */
final class Fixture {
    static final int FIRST_PORT = 6700;
    /** Threads of a host that has none left. */
    static final Threads NO_THREADS = (work, name) -> new Thread(work, name) {
        @Override
        public void start() {
            throw new OutOfMemoryError("unable to create native thread");
        }
    };

    private final Map<String, SupervisorDetails> supervisors = new TreeMap<>();
    private final Map<String, TopologyDetails> topologies = new TreeMap<>();
    private final Map<String, SchedulerAssignment> assignments = new HashMap<>();
    private final Map<String, Object> conf = conf();

    /** Storm's defaults with a ZooKeeper address where no server listens. */
    static Map<String, Object> conf() {
        Map<String, Object> conf = new HashMap<>(Utils.readDefaultConfig());
        conf.put(Config.STORM_ZOOKEEPER_SERVERS, List.of("127.0.0.1"));
        conf.put(Config.STORM_ZOOKEEPER_PORT, 1);
        return conf;
    }

    static Map<String, Object> conf(Object... keysAndValues) {
        Map<String, Object> conf = conf();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            conf.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return conf;
    }

    /** Packs a text as agents pack large readings. */
    static byte[] packed(byte[] text) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (DeflaterOutputStream stream = new DeflaterOutputStream(packed)) {
            stream.write(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return packed.toByteArray();
    }

    /** Adds a supervisor {@code id} on the host {@code host-<id>} with a number of slots from port 6700. */
    Fixture supervisor(String id, int slots) {
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < slots; i++) {
            ports.add(FIRST_PORT + i);
        }
        return supervisor(id, "host-" + id, ports, Map.of());
    }

    Fixture supervisor(String id, String host, Collection<Integer> ports, Object meta) {
        Map<String, Double> resources = Map.of(Config.SUPERVISOR_CPU_CAPACITY, 400.0,
            Config.SUPERVISOR_MEMORY_CAPACITY_MB, 4096.0);
        supervisors.put(id, new SupervisorDetails(id, host, meta, ports, resources));
        return this;
    }

    /** Adds a topology of one spout and one bolt with two executors each and, if wanted, ackers. */
    Fixture topology(String id, int workers, int ackers, Object... keysAndValues) {
        Map<ExecutorDetails, String> executors = new HashMap<>();
        int task = 1;
        for (int i = 0; i < ackers; i++, task++) {
            executors.put(new ExecutorDetails(task, task), "__acker");
        }
        for (String component : List.of("count", "words")) {
            for (int i = 0; i < 2; i++, task++) {
                executors.put(new ExecutorDetails(task, task), component);
            }
        }
        return topology(id, workers, wordCount(), executors, keysAndValues);
    }

    Fixture topology(String id, int workers, StormTopology topology, Map<ExecutorDetails, String> executors,
                     Object... keysAndValues) {
        Map<String, Object> topologyConf = conf(keysAndValues);
        topologyConf.put(Config.TOPOLOGY_NAME, "name-of-" + id);
        topologies.put(id, new TopologyDetails(id, topologyConf, topology, workers, executors, "owner"));
        return this;
    }

    /** Adds a topology as it is. */
    Fixture topology(TopologyDetails details) {
        topologies.put(details.getId(), details);
        return this;
    }

    /** Gives a topology to another user. */
    Fixture owned(String id, String owner) {
        TopologyDetails before = topologies.get(id);
        topologies.put(id, new TopologyDetails(id, before.getConf(), before.getTopology(), before.getNumWorkers(),
            before.getExecutorToComponent(), owner));
        return this;
    }

    /** Puts executors of a topology, by their tasks, on a slot. */
    Fixture placed(String id, String supervisor, int port, int... tasks) {
        Map<ExecutorDetails, WorkerSlot> slots = new HashMap<>();
        SchedulerAssignment before = assignments.get(id);
        if (before != null) {
            slots.putAll(before.getExecutorToSlot());
        }
        for (int task : tasks) {
            slots.put(new ExecutorDetails(task, task), new WorkerSlot(supervisor, port));
        }
        assignments.put(id, new SchedulerAssignmentImpl(id, slots, null, null));
        return this;
    }

    Fixture config(String key, Object value) {
        conf.put(key, value);
        return this;
    }

    Topologies topologies() {
        return new Topologies(topologies);
    }

    TopologyDetails details(String id) {
        return topologies.get(id);
    }

    Cluster cluster() {
        return cluster(topologies());
    }

    Cluster cluster(Topologies all) {
        return new Cluster(new Nimbus.StandaloneINimbus(), new ResourceMetrics(new StormMetricsRegistry()), supervisors, assignments, all,
            conf);
    }

    /** A cluster that records what is written to it. */
    RecordingCluster recordingCluster() {
        return new RecordingCluster(cluster());
    }

    /** A port of this machine on which no server listens. */
    static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    static StormTopology wordCount() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("words", new TestWordSpout(), 2);
        builder.setBolt("count", new TestWordCounter(), 2).fieldsGrouping("words", new Fields("word"));
        return builder.createTopology();
    }

    static Set<ExecutorDetails> executors(int... tasks) {
        Set<ExecutorDetails> executors = new HashSet<>();
        for (int task : tasks) {
            executors.add(new ExecutorDetails(task, task));
        }
        return executors;
    }

    static WorkerSlot slot(String supervisor, int port) {
        return new WorkerSlot(supervisor, port);
    }

    /** The whole state that Nimbus would write: workers by topology. */
    static Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> state(Cluster cluster) {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> state = new TreeMap<>();
        cluster.getAssignments().keySet().forEach(id -> {
            Map<WorkerSlot, Set<ExecutorDetails>> slots = SlotMap.of(cluster, id);
            if (!slots.isEmpty()) {
                state.put(id, slots);
            }
        });
        return state;
    }

    /** Records writes; each of them goes on to Storm's implementation. */
    static final class RecordingCluster extends Cluster {
        private final List<String> writes;

        RecordingCluster(Cluster source) {
            super(source);
            writes = new ArrayList<>();
        }

        List<String> writes() {
            return writes;
        }

        @Override
        public void assign(WorkerSlot slot, String topologyId, Collection<ExecutorDetails> executors) {
            // The superclass' constructor assigns before there is a list.
            if (writes != null) {
                writes.add("assign " + slot);
            }
            super.assign(slot, topologyId, executors);
        }

        @Override
        public void freeSlot(WorkerSlot slot) {
            writes.add("free " + slot);
            super.freeSlot(slot);
        }

        @Override
        public void setStatus(String topologyId, String status) {
            writes.add("status of " + topologyId);
            super.setStatus(topologyId, status);
        }

        @Override
        public void updateFrom(Cluster other) {
            writes.add("update");
            super.updateFrom(other);
        }
    }
}
