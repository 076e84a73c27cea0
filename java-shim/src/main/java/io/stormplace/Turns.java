package io.stormplace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.utils.ObjectReader;

/**
 * Which topologies a round describes to the daemon, and in which order.
 *
 * <p>The daemon may need longer than a round to read ten thousand topologies, and then would place none in any round. So a round
 * describes {@value #MOST_IDLE} of those that have no worker. The first ones are those that ran before, as a rebalance hides them for one
 * round, then those of highest priority, then those submitted first. Each is described in two rounds, as the daemon may finish its
 * plan between them; if it still has no worker after these, the others come before it. Used by the scheduling thread alone.
 */
final class Turns {
    /** Most topologies without a worker that are described in one round. */
    static final int MOST_IDLE = 2000;

    /** What is said of a topology that waits; the same in each round. */
    static final String WAITING = "not placed yet: its turn comes in a later round, as one round plans "
        + MOST_IDLE + " topologies without a worker at most";

    private static final int ROUNDS_EACH = 2;

    /** The topologies to describe, in this order, and the ids of those that wait for a later round. */
    record Turn(List<TopologyDetails> described, List<String> waiting) {
    }

    private final LastAssignments last;
    private Map<String, Integer> rounds = new HashMap<>();

    /**
     * Creates turns; no topology has had one.
     *
     * @param last where topologies ran that show no worker now
     */
    Turns(LastAssignments last) {
        this.last = last;
    }

    /**
     * Chooses the topologies of the next round.
     *
     * @param topologies all topologies of the round
     * @param cluster    the round's cluster; not changed
     * @return what lacks a slot first, as it would lack it in every round; what runs completely can wait for one with more time
     */
    Turn next(Topologies topologies, Cluster cluster) {
        List<TopologyDetails> lacking = new ArrayList<>();
        List<TopologyDetails> complete = new ArrayList<>();
        List<TopologyDetails> idle = new ArrayList<>();
        for (TopologyDetails details : topologies) {
            SchedulerAssignment assignment = cluster.getAssignmentById(details.getId());
            if (assignment == null || assignment.getExecutorToSlot().isEmpty()) {
                idle.add(details);
            } else {
                boolean whole = assignment.getExecutorToSlot().keySet().containsAll(details.getExecutors());
                (whole ? complete : lacking).add(details);
            }
        }
        lacking.sort(Comparator.comparing(TopologyDetails::getId));
        complete.sort(Comparator.comparing(TopologyDetails::getId));
        idle.sort(Comparator.comparing(this::turn).thenComparing(details -> !last.knows(details.getId()))
            .thenComparing(Comparator.comparing(this::roundsOf).reversed()).thenComparing(Turns::priority)
            .thenComparing(TopologyDetails::getLaunchTime).thenComparing(TopologyDetails::getId));
        int most = Math.min(MOST_IDLE, idle.size());
        Map<String, Integer> had = new HashMap<>();
        idle.forEach(details -> had.put(details.getId(), roundsOf(details)));
        idle.subList(0, most).forEach(details -> had.merge(details.getId(), 1, Integer::sum));
        rounds = had;
        lacking.addAll(idle.subList(0, most));
        lacking.addAll(complete);
        return new Turn(lacking, idle.subList(most, idle.size()).stream().map(TopologyDetails::getId).toList());
    }

    private int turn(TopologyDetails details) {
        return roundsOf(details) / ROUNDS_EACH;
    }

    private int roundsOf(TopologyDetails details) {
        return rounds.getOrDefault(details.getId(), 0);
    }

    /** A smaller number comes first; {@link TopologyDetails#getTopologyPriority()} throws where none is set. */
    private static int priority(TopologyDetails details) {
        return ObjectReader.getInt(details.getConf().get(Config.TOPOLOGY_PRIORITY), Integer.MAX_VALUE);
    }
}
