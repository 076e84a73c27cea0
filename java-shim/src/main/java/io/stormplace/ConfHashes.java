package io.stormplace;

import java.util.HashMap;
import java.util.Map;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;

/**
 * Hashes of the configurations of topologies, each computed once: a configuration has hundreds of keys.
 *
 * <p>Nimbus keeps the configurations that it has read, hands out the same map in each round, and puts another map in its place when
 * a rebalance changes one. Used by the scheduling thread alone.
 */
final class ConfHashes {
    private record Known(Map<String, Object> conf, int hash) {
    }

    private final Map<String, Known> known = new HashMap<>();

    /**
     * Returns the hash of a topology's configuration.
     *
     * @param topology the topology
     * @return the same number for equal configurations
     */
    int of(TopologyDetails topology) {
        Map<String, Object> conf = topology.getConf();
        Known hashed = known.get(topology.getId());
        if (hashed == null || hashed.conf() != conf) {
            hashed = new Known(conf, conf.hashCode());
            known.put(topology.getId(), hashed);
        }
        return hashed.hash();
    }

    /**
     * Forgets topologies that are gone.
     *
     * @param topologies all topologies of the round, each of which was asked for
     */
    void retain(Topologies topologies) {
        if (known.size() > topologies.getTopologies().size()) {
            known.keySet().retainAll(topologies.getAllIds());
        }
    }
}
