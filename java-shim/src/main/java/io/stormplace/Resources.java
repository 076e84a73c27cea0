package io.stormplace;

import io.stormplace.wire.Supervisor;
import io.stormplace.wire.Topology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.resource.normalization.NormalizedResourceRequest;

/**
 * What components ask for and supervisors offer beside CPU and memory, and the heap of executors, for one request.
 *
 * <p>Storm states resources per component: one executor of each stands for all of them.
 */
final class Resources {
    private final TreeSet<String> names = new TreeSet<>();
    private final List<Consumer<List<String>>> writers = new ArrayList<>();

    /**
     * Takes note of what a supervisor offers.
     *
     * @param supervisor its description
     * @param offered    amount by name; null if nothing is known
     */
    void offer(Supervisor supervisor, Map<String, Double> offered) {
        Map<String, Double> amounts = offered == null ? Map.of() : offered;
        // Storm lists every resource that it has ever read of, also those of which there is nothing.
        amounts.forEach((name, amount) -> {
            if (amount != null && amount > 0) {
                names.add(name);
            }
        });
        writers.add(all -> supervisor.setResources(amounts(all, amounts)));
    }

    /**
     * Takes note of what a topology's components need, and describes their heap.
     *
     * @param topology its description; gets the heap
     * @param details  Storm's own description
     * @param order    executors in the order of the request
     */
    void demand(Topology topology, TopologyDetails details, List<ExecutorDetails> order) {
        Map<Integer, ExecutorDetails> samples = new HashMap<>();
        for (int i = 0; i < order.size(); i++) {
            samples.putIfAbsent(topology.getExecutor_component().get(i), order.get(i));
        }
        List<Double> heap = new ArrayList<>();
        List<Map<String, Double>> needed = new ArrayList<>();
        for (int component = 0; component < topology.getComponent_namesSize(); component++) {
            ExecutorDetails sample = samples.get(component);
            Double heapMb = sample == null ? null : details.getOnHeapMemoryRequirement(sample);
            heap.add(heapMb == null ? 0 : heapMb);
            needed.add(generic(sample == null ? null : details.getTotalResources(sample)));
        }
        topology.setComponent_heap_mb(heap);
        describeShared(topology, details.getTopology());
        needed.forEach(each -> names.addAll(each.keySet()));
        writers.add(all -> topology.setComponent_resources(
            needed.stream().flatMap(each -> amounts(all, each).stream()).toList()));
    }

    /**
     * Writes the amounts into all descriptions.
     *
     * @return the names of the resources in the order of the amounts; empty if there are none
     */
    List<String> describe() {
        List<String> all = List.copyOf(names);
        if (!all.isEmpty()) {
            writers.forEach(writer -> writer.accept(all));
        }
        return all;
    }

    private static void describeShared(Topology topology, StormTopology storm) {
        if (storm == null || storm.get_shared_memory_size() == 0 || storm.get_component_to_shared_memory_size() == 0) {
            return;
        }
        List<String> pieces = new ArrayList<>();
        List<Double> amounts = new ArrayList<>();
        new TreeMap<>(storm.get_shared_memory()).forEach((name, memory) -> {
            pieces.add(name);
            amounts.addAll(List.of(memory.get_on_heap(), memory.get_off_heap_worker(), memory.get_off_heap_node()));
        });
        List<Integer> components = new ArrayList<>();
        List<Integer> used = new ArrayList<>();
        for (int component = 0; component < topology.getComponent_namesSize(); component++) {
            Set<String> names = storm.get_component_to_shared_memory().get(topology.getComponent_names().get(component));
            for (String name : names == null ? new TreeSet<String>() : new TreeSet<>(names)) {
                if (pieces.contains(name)) {
                    components.add(component);
                    used.add(pieces.indexOf(name));
                }
            }
        }
        topology.setShared_component(components);
        topology.setShared_piece(used);
        topology.setShared_mb(amounts);
    }

    private static Map<String, Double> generic(NormalizedResourceRequest request) {
        if (request == null) {
            return Map.of();
        }
        Map<String, Double> amounts = new HashMap<>(request.toNormalizedMap());
        NormalizedResourceRequest.removeNonGenericResources(amounts);
        amounts.values().removeIf(amount -> amount == null || amount == 0);
        return amounts;
    }

    private static List<Double> amounts(List<String> names, Map<String, Double> byName) {
        return names.stream().map(name -> byName.getOrDefault(name, 0.0)).toList();
    }
}
