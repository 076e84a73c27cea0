package io.stormplace;

import com.codahale.metrics.Timer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * Carries out the verdicts of a round, and does what can be done about topologies without a plan.
 *
 * <p>The plan comes first. What goes wrong in a later step costs no other step anything, in this round or in the next: where a
 * fault lasts, statuses must still say what is so, and a rebalance must still find where executors ran. Used by the scheduling
 * thread alone.
 */
final class Enactment {
    private final PlanSource plans;
    private final FallbackScheduler fallback;
    private final ShimMetrics metrics;
    private final int fallbackMs;
    private final PlanApplier applier = new PlanApplier();

    /**
     * Creates an enactment.
     *
     * @param plans      remembers where executors ran
     * @param fallback   places topologies that have neither a plan nor workers
     * @param metrics    counts and times the steps
     * @param fallbackMs how long a round waits for the fallback scheduler, in ms
     */
    Enactment(PlanSource plans, FallbackScheduler fallback, ShimMetrics metrics, int fallbackMs) {
        this.plans = plans;
        this.fallback = fallback;
        this.metrics = metrics;
        this.fallbackMs = fallbackMs;
    }

    /**
     * Carries out verdicts. What goes wrong after the plan was applied is thrown when all other steps were taken.
     *
     * @param topologies all topologies of the round
     * @param cluster    the round's cluster; each step changes it completely or not at all
     * @param verdicts   what is to become of each topology, by id
     * @throws InterruptedException if the scheduling thread was interrupted
     */
    void enact(Topologies topologies, Cluster cluster, Map<String, Verdict> verdicts) throws InterruptedException {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets = new HashMap<>();
        Set<String> together = new HashSet<>();
        verdicts.forEach((id, verdict) -> {
            if (verdict.outcome() == Verdict.Outcome.ASSIGN || verdict.outcome() == Verdict.Outcome.EVICT) {
                targets.put(id, verdict.slots());
            }
            if (verdict.evicts()) {
                together.add(id);
            }
        });
        Map<String, String> failures = apply(cluster, targets, together);
        Steps steps = new Steps();
        if (!targets.isEmpty()) {
            // A rebalance may come before the next round.
            steps.take(() -> plans.remember(topologies, cluster));
        }
        List<TopologyDetails> partial = new ArrayList<>();
        List<TopologyDetails> wanted = new ArrayList<>();
        Map<String, String> reasons = new HashMap<>();
        Map<String, String> done = new HashMap<>();
        verdicts.forEach((id, verdict) -> steps.take(() -> {
            boolean refused = verdict.outcome() == Verdict.Outcome.REFUSED || failures.containsKey(id);
            if (!refused) {
                setStatus(cluster, id, verdict.status());
                return;
            }
            reasons.put(id, failures.getOrDefault(id, verdict.status()));
            TopologyDetails topology = topologies.getById(id);
            if (cluster.needsSchedulingRas(topology)) {
                done.put(id, "the round could not be completed");
                (MissingExecutors.concerns(cluster, topology) ? partial : wanted).add(topology);
            }
        }));
        steps.take(() -> done.putAll(complete(cluster, partial)));
        steps.take(() -> done.putAll(putBack(cluster, wanted)));
        steps.take(() -> done.putAll(fallBack(cluster, wanted)));
        reasons.forEach((id, reason) -> steps.take(() -> setStatus(cluster, id,
            "No plan: " + reason + "; " + done.getOrDefault(id, "its workers stay where they are"))));
        if (!done.isEmpty()) {
            steps.take(() -> plans.remember(topologies, cluster));
        }
        steps.end();
    }

    /**
     * Sets a status line only when it changes: each call writes a line to Nimbus' log.
     *
     * @param cluster the round's cluster
     * @param id      the topology
     * @param status  its status line
     */
    static void setStatus(Cluster cluster, String id, String status) {
        if (!status.equals(cluster.getStatus(id))) {
            cluster.setStatus(id, status);
        }
    }

    /** Gives new workers to what is missing of running topologies; returns what was done about each of them. */
    private Map<String, String> complete(Cluster cluster, List<TopologyDetails> partial) {
        Map<String, String> done = new HashMap<>();
        if (partial.isEmpty()) {
            return done;
        }
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets = MissingExecutors.deal(cluster, partial);
        Map<String, Integer> missing = new HashMap<>();
        partial.forEach(topology ->
            missing.put(topology.getId(), cluster.getUnassignedExecutors(topology).size()));
        Map<String, String> failures = apply(cluster, targets, Set.of());
        missing.forEach((id, count) -> {
            String outcome = !targets.containsKey(id) ? "no free slot for " + count + " missing executors"
                : failures.containsKey(id) ? count + " missing executors could not be placed: " + failures.get(id)
                : count + " missing executors placed on free slots";
            done.put(id, outcome + "; its workers stay where they are");
        });
        return done;
    }

    /** Puts what a rebalance hides back where it ran, and takes it from the wanted; returns what was done about each of them. */
    private Map<String, String> putBack(Cluster cluster, List<TopologyDetails> wanted) {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets = new HashMap<>();
        for (TopologyDetails topology : wanted) {
            Map<WorkerSlot, Set<ExecutorDetails>> workers = plans.lastWorkers(topology, cluster);
            if (!workers.isEmpty()) {
                targets.put(topology.getId(), workers);
            }
        }
        targets.keySet().removeAll(apply(cluster, targets, Set.of()).keySet());
        wanted.removeIf(topology -> targets.containsKey(topology.getId()));
        Map<String, String> done = new HashMap<>();
        targets.keySet().forEach(id -> done.put(id, "put back where it ran"));
        return done;
    }

    /** Has the wanted topologies placed; returns what was done about each of them. */
    private Map<String, String> fallBack(Cluster cluster, List<TopologyDetails> wanted) throws InterruptedException {
        if (!wanted.isEmpty()) {
            metrics.fallbackRounds().mark();
        }
        FallbackScheduler.Outcome outcome = fallback.propose(cluster, wanted, fallbackMs);
        Map<String, FallbackScheduler.Proposal> proposals = outcome.proposals();
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets = new HashMap<>();
        proposals.forEach((id, proposal) -> targets.put(id, proposal.slots()));
        Map<String, String> failures = apply(cluster, targets, Set.of());
        Map<String, String> done = new HashMap<>();
        for (TopologyDetails topology : wanted) {
            String id = topology.getId();
            FallbackScheduler.Proposal proposal = proposals.get(id);
            int unassigned = cluster.getUnassignedExecutors(topology).size();
            if (proposal == null) {
                done.put(id, outcome.otherwise());
            } else if (failures.containsKey(id)) {
                done.put(id, fallback.name() + " proposed what cannot be applied: " + failures.get(id));
            } else {
                done.put(id, (unassigned == 0 ? "placed by " + fallback.name()
                    : fallback.name() + " left " + unassigned + " executors unassigned")
                    + (proposal.status() == null ? "" : " (" + proposal.status() + ")"));
            }
        }
        return done;
    }

    private Map<String, String> apply(Cluster cluster, Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets,
                                      Set<String> together) {
        if (targets.isEmpty()) {
            return Map.of();
        }
        try (Timer.Context ignored = metrics.applying().time()) {
            return applier.apply(cluster, targets, together);
        }
    }
}
