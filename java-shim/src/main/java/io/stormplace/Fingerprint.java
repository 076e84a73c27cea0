package io.stormplace;

import io.stormplace.wire.Drain;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;

/**
 * A number that stays the same while nothing changes in a cluster that a plan depends on, apart from readings.
 *
 * <p>The order of Storm's maps does not matter: amounts are added up, after each was spread over 64 bits.
 */
final class Fingerprint {
    private Fingerprint() {
    }

    /**
     * Computes the fingerprint in time linear in supervisors and executors.
     *
     * @param topologies all topologies of the round
     * @param cluster    the round's cluster; not changed
     * @param statuses   statuses of topologies by id, as far as they are known
     * @param confs      hashes of the topologies' configurations
     * @param drains     hosts and sites that are to be emptied; their ages do not count
     * @return the same number for the same supervisors, topologies, statuses, assignments and drains
     */
    static long of(Topologies topologies, Cluster cluster, Map<String, String> statuses, ConfHashes confs,
                   List<Drain> drains) {
        long sum = 0;
        for (Drain drain : drains) {
            sum += spread(3, Objects.hash(drain.getPlace(), Arrays.hashCode(drain.getPayload())));
        }
        for (Map.Entry<String, List<String>> rack : cluster.getNetworkTopography().entrySet()) {
            for (String host : rack.getValue()) {
                sum += spread(2, Objects.hash(rack.getKey(), host));
            }
        }
        for (SupervisorDetails supervisor : cluster.getSupervisors().values()) {
            sum += spread(1, Objects.hash(supervisor.getId(), supervisor.getHost(), supervisor.getAllPorts(),
                supervisor.getTotalCpu(), supervisor.getTotalMemory(), supervisor.getTotalGenericResources(),
                supervisor.getSchedulerMeta(), cluster.isBlackListed(supervisor.getId())));
        }
        for (TopologyDetails topology : topologies) {
            long id = topology.getId().hashCode();
            sum += spread(id, Objects.hash(topology.getNumWorkers(), topology.getTopologySubmitter(), confs.of(topology),
                statuses.get(topology.getId())));
            for (Map.Entry<?, String> executor : topology.getExecutorToComponent().entrySet()) {
                sum += spread(id + 1, 31 * executor.getKey().hashCode() + Objects.hashCode(executor.getValue()));
            }
            SchedulerAssignment assignment = cluster.getAssignmentById(topology.getId());
            if (assignment != null) {
                for (Map.Entry<?, ?> executor : assignment.getExecutorToSlot().entrySet()) {
                    sum += spread(id + 2, 31 * executor.getKey().hashCode() + Objects.hashCode(executor.getValue()));
                }
            }
        }
        confs.retain(topologies);
        return sum;
    }

    /** The finaliser of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014). */
    private static long spread(long kind, int value) {
        long mixed = kind * 0x9E3779B97F4A7C15L + value;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
