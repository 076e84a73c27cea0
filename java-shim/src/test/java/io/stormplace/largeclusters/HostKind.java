package io.stormplace.largeclusters;

import io.stormplace.HostNameTopography;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.storm.Config;
import org.apache.storm.scheduler.SupervisorDetails;

/**
 * Hosts of one rack that are alike.
 *
 * @param rack       number of the rack
 * @param hosts      how many there are
 * @param slots      slots of each
 * @param memoryMb   memory of each, MB
 * @param cpuPercent processor of each, percent of a core
 */
record HostKind(int rack, int hosts, int slots, double memoryMb, double cpuPercent) {
    static final int FIRST_PORT = 6700;

    /**
     * Makes supervisors. {@link HostNameTopography} finds the rack in a host's name. Ids have one length: none may be a prefix of another.
     *
     * @param kinds   all hosts of a cluster
     * @param generic generic resources of each host
     * @return supervisors by id
     */
    static SortedMap<String, SupervisorDetails> supervisors(List<HostKind> kinds, Map<String, Double> generic) {
        SortedMap<String, SupervisorDetails> supervisors = new TreeMap<>();
        Map<Integer, Integer> inRack = new HashMap<>();
        for (HostKind kind : kinds) {
            List<Integer> ports = IntStream.range(FIRST_PORT, FIRST_PORT + kind.slots).boxed().toList();
            Map<String, Double> resources = new HashMap<>(generic);
            resources.put(Config.SUPERVISOR_CPU_CAPACITY, kind.cpuPercent);
            resources.put(Config.SUPERVISOR_MEMORY_CAPACITY_MB, kind.memoryMb);
            for (int i = 0; i < kind.hosts; i++) {
                int number = inRack.merge(kind.rack, 1, Integer::sum);
                String id = String.format("r%03ds%05d", kind.rack, number);
                String host = String.format("rack%03d-%05d", kind.rack, number);
                supervisors.put(id, new SupervisorDetails(id, host, null, ports, resources));
            }
        }
        return supervisors;
    }
}
