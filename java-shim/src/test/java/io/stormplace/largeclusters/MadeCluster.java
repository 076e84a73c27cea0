package io.stormplace.largeclusters;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.testing.TestGlobalCount;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.topology.BoltDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;
import org.apache.storm.utils.Utils;

/**
 * Clusters of a given size, the same for the same numbers.
 *
 * <p>Components form a graph without cycles: each but the first subscribes to one or two of the three before it. All hosts are alike;
 * topologies ask for 60 % of their processors and memory, and about half of their slots are needed.
 *
 * @param hosts      hosts in all, dealt to racks in equal parts
 * @param racks      racks
 * @param topologies topologies
 * @param executors  executors of a topology in the mean, at least one for each component
 * @param sizes      sizes of topologies, dealt in turn: each is four times as large as the one before; 1: all are alike
 * @param components components of each topology
 * @param seed       of everything that is drawn
 */
record MadeCluster(int hosts, int racks, int topologies, int executors, int sizes, int components, long seed) {
    private static final double FILL = 0.6;
    private static final double SLOTS_PER_WORKER = 2.0;
    private static final double MAX_HEAP_MB = 2_048;
    private static final int LEAST_SLOTS = 4;
    private static final int WINDOW = 3;
    private static final long STEP = 4;
    private static final double[] CPU_PERCENT = {5, 10, 20, 50};
    private static final double[] ON_HEAP_MB = {128, 256, 512};
    private static final double OFF_HEAP_MB = 64;

    BenchmarkCluster make(String name) {
        Random random = new Random(seed);
        List<TopologyDetails> made = new ArrayList<>();
        double cpuPercent = 0;
        double memoryMb = 0;
        int workers = 0;
        int[] sizesOfTopologies = sizesOfTopologies();
        // reading the file of defaults takes longer than making a small topology
        Map<String, Object> defaults = Utils.readDefaultConfig();
        for (int i = 0; i < topologies; i++) {
            TopologyDetails details = topology(String.format("made-%05d", i), sizesOfTopologies[i], defaults, random);
            cpuPercent += details.getTotalRequestedCpu();
            memoryMb += details.getTotalRequestedMemOnHeap() + details.getTotalRequestedMemOffHeap();
            workers += details.getNumWorkers();
            made.add(details);
        }
        // a host has room for the largest executors, however few there are
        double hostCpu = Math.max(400, Math.ceil(cpuPercent / FILL / hosts));
        double hostMemory = Math.max(4_096, Math.ceil(memoryMb / FILL / hosts));
        int slots = Math.max(LEAST_SLOTS, (int) Math.ceil(SLOTS_PER_WORKER * workers / hosts));
        List<HostKind> kinds = new ArrayList<>();
        for (int rack = 0; rack < racks; rack++) {
            int inRack = hosts / racks + (rack < hosts % racks ? 1 : 0);
            kinds.add(new HostKind(rack, inRack, slots, hostMemory, hostCpu));
        }
        return new BenchmarkCluster(name, HostKind.supervisors(kinds, Map.of()), made);
    }

    /** Executors of each topology; their sum is that of topologies that are all alike. */
    private int[] sizesOfTopologies() {
        long[] upTo = new long[topologies + 1];
        for (int i = 0; i < topologies; i++) {
            upTo[i + 1] = upTo[i] + (long) Math.pow(STEP, i % sizes);
        }
        long all = (long) topologies * executors;
        return IntStream.range(0, topologies).map(i -> (int) (all * upTo[i + 1] / upTo[topologies] - all * upTo[i] / upTo[topologies]))
            .toArray();
    }

    private TopologyDetails topology(String id, int executorsOfIt, Map<String, Object> defaults, Random random) {
        int[] sizesOfComponents = sizesOfComponents(executorsOfIt, random);
        TopologyBuilder builder = new TopologyBuilder();
        double heapMb = 0;
        for (int i = 0; i < components; i++) {
            double cpu = CPU_PERCENT[random.nextInt(CPU_PERCENT.length)];
            double onHeap = ON_HEAP_MB[random.nextInt(ON_HEAP_MB.length)];
            heapMb += onHeap * sizesOfComponents[i];
            String component = component(i);
            if (i == 0) {
                builder.setSpout(component, new TestWordSpout(), sizesOfComponents[i]).setCPULoad(cpu).setMemoryLoad(onHeap, OFF_HEAP_MB);
            } else {
                BoltDeclarer bolt = builder.setBolt(component, new TestGlobalCount(), sizesOfComponents[i]);
                bolt.setCPULoad(cpu).setMemoryLoad(onHeap, OFF_HEAP_MB);
                random.ints(1 + random.nextInt(2), Math.max(0, i - WINDOW), i).distinct()
                    .forEach(source -> subscribe(bolt, component(source), random));
            }
        }
        // half full, so that a scheduler that counts executors alone keeps the heap limit too, more often than not
        int workers = (int) Math.ceil(heapMb / (MAX_HEAP_MB / 2));
        Map<String, Object> conf = new HashMap<>(defaults);
        conf.put(Config.TOPOLOGY_NAME, "name-of-" + id);
        conf.put(Config.TOPOLOGY_WORKERS, workers);
        conf.put(Config.TOPOLOGY_WORKER_MAX_HEAP_SIZE_MB, MAX_HEAP_MB);
        StormTopology topology = builder.createTopology();
        return BenchmarkCluster.details(id, topology, conf, workers);
    }

    private static void subscribe(BoltDeclarer bolt, String source, Random random) {
        switch (random.nextInt(4)) {
            case 0 -> bolt.fieldsGrouping(source, new Fields("word"));
            case 1 -> bolt.allGrouping(source);
            case 2 -> bolt.localOrShuffleGrouping(source);
            default -> bolt.shuffleGrouping(source);
        }
    }

    /** Executors of each component: one each, and the others dealt by weights. */
    private int[] sizesOfComponents(int executorsOfIt, Random random) {
        double[] weights = random.doubles(components, 0.1, 1.0).toArray();
        double sum = Arrays.stream(weights).sum();
        int[] dealtOut = new int[components];
        int spare = Math.max(0, executorsOfIt - components);
        int dealt = 0;
        for (int i = 0; i < components; i++) {
            int share = i == components - 1 ? spare - dealt : (int) (spare * weights[i] / sum);
            dealt += share;
            dealtOut[i] = 1 + share;
        }
        return dealtOut;
    }

    private static String component(int number) {
        return String.format("component-%03d", number);
    }
}
