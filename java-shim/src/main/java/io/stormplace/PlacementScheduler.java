package io.stormplace;

import com.codahale.metrics.Timer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.Config;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.IScheduler;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.utils.CuratorUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Storm scheduler that asks the placement daemon where executors should run.
 *
 * <p>A round never throws, and waits neither for the daemon nor for the fallback scheduler beyond the deadline. Where there is
 * no usable plan, running workers are left alone; missing executors of running topologies get new workers, what a rebalance
 * hides is put back where it ran, and the fallback scheduler places the other topologies. See docs/install-shim.md.
 */
public final class PlacementScheduler implements IScheduler {
    private static final Logger LOG = LoggerFactory.getLogger(PlacementScheduler.class);

    private final StateChangeLog changes;
    private final FallbackScheduler fallback;
    private final PlanApplier applier = new PlanApplier();
    private ShimSettings settings;
    private ShimMetrics metrics;
    private ReadingsCache readings;
    private TopologyStatuses statuses;
    private PlanSource plans;

    /** Creates a scheduler; Nimbus calls {@link #prepare} next. */
    public PlacementScheduler() {
        this(new StateChangeLog());
    }

    PlacementScheduler(StateChangeLog changes) {
        this.changes = changes;
        this.fallback = new FallbackScheduler(changes, Threads.DAEMONS, System::nanoTime);
    }

    /**
     * Reads the settings. Nothing is connected: standby Nimbuses prepare a scheduler that they never use.
     *
     * @param conf     Nimbus' configuration
     * @param registry Nimbus' metrics
     */
    @Override
    public void prepare(Map<String, Object> conf, StormMetricsRegistry registry) {
        settings = ShimSettings.read(conf);
        if (!settings.faults().isEmpty()) {
            LOG.error("Stormplace settings: {}", String.join(". ", settings.faults()));
        }
        ClusterKeys keys = ClusterKeys.read(conf);
        keys.faults().forEach(fault -> LOG.warn("Stormplace: {}", fault));
        readings = new ReadingsCache(() -> zooKeeper(conf, settings.zookeeperAuth()), settings.zookeeperRoot(), changes,
            System::nanoTime, System::currentTimeMillis, Threads.DAEMONS);
        statuses = new TopologyStatuses(() -> zooKeeper(conf, ""), conf.get(Config.STORM_ZOOKEEPER_ROOT), changes, System::nanoTime,
            Threads.DAEMONS);
        CircuitBreaker breaker = new CircuitBreaker(settings.deadlineMs());
        metrics = ShimMetrics.register(registry, breaker);
        plans = new PlanSource(settings, readings, statuses, changes, ClusterIdentity.of(conf), keys, breaker, metrics);
        fallback.prepare(settings.fallbackScheduler(), conf, registry);
    }

    /**
     * Does one round.
     *
     * @param topologies all topologies of the cluster
     * @param cluster    the cluster; changed completely or not at all
     */
    @Override
    public void schedule(Topologies topologies, Cluster cluster) {
        long startNs = System.nanoTime();
        try {
            readings.start();
            statuses.start();
            if (topologies.getTopologies().isEmpty()) {
                return;
            }
            Map<String, Verdict> verdicts = plans.plan(topologies, cluster, startNs);
            if (settings.mode() == ShimSettings.Mode.SHADOW) {
                shadow(topologies, cluster, verdicts);
            } else {
                enact(topologies, cluster, verdicts);
            }
            changes.good(StateChangeLog.Subject.ROUND, "Stormplace's rounds are complete.");
        } catch (InterruptedException e) {
            // Thrown only where this thread itself waits, for the daemon or the fallback scheduler. The interrupts of other
            // threads arrive wrapped and are faults like any other: with the flag set Nimbus' timer would end for good.
            Thread.currentThread().interrupt();
            LOG.info("Stormplace was interrupted; this round changes nothing more.");
        } catch (Throwable t) {
            // Whatever escapes from here ends Nimbus, or, worse, its scheduling alone.
            changes.bad(StateChangeLog.Subject.ROUND, t.getClass().getName(),
                "Stormplace could not complete a round: " + Text.describe(t), t);
        }
    }

    /**
     * Returns no per-user guarantees, as there are none.
     *
     * @return an empty map
     */
    @Override
    public Map<String, Map<String, Double>> config() {
        return Map.of();
    }

    /** Ends connections; bounded in time. */
    @Override
    public void cleanup() {
        for (Runnable step : List.<Runnable>of(() -> plans.close(), () -> readings.close(), () -> statuses.close(), fallback::cleanup)) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                LOG.warn("Stormplace could not release everything at its end", e);
            }
        }
    }

    private void enact(Topologies topologies, Cluster cluster, Map<String, Verdict> verdicts)
        throws InterruptedException {
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
        List<TopologyDetails> partial = new ArrayList<>();
        List<TopologyDetails> wanted = new ArrayList<>();
        Map<String, String> reasons = new HashMap<>();
        verdicts.forEach((id, verdict) -> {
            boolean refused = verdict.outcome() == Verdict.Outcome.REFUSED || failures.containsKey(id);
            if (!refused) {
                setStatus(cluster, id, verdict.status());
            } else {
                reasons.put(id, failures.getOrDefault(id, verdict.status()));
                TopologyDetails topology = topologies.getById(id);
                if (cluster.needsSchedulingRas(topology)) {
                    (MissingExecutors.concerns(cluster, topology) ? partial : wanted).add(topology);
                }
            }
        });
        Map<String, String> done = complete(cluster, partial);
        done.putAll(putBack(cluster, wanted));
        done.putAll(fallBack(cluster, wanted));
        reasons.forEach((id, reason) -> setStatus(cluster, id,
            "No plan: " + reason + "; " + done.getOrDefault(id, "its workers stay where they are")));
        if (!targets.isEmpty() || !done.isEmpty()) {
            // A rebalance may come before the next round.
            plans.remember(topologies, cluster);
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
        FallbackScheduler.Outcome outcome = fallback.propose(cluster, wanted, settings.deadlineMs());
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

    private void shadow(Topologies topologies, Cluster cluster, Map<String, Verdict> verdicts)
        throws InterruptedException {
        fallback.scheduleAll(topologies, cluster);
        verdicts.forEach((id, verdict) -> setStatus(cluster, id, ShadowStatus.of(cluster.getStatus(id), verdict)));
    }

    /** Sets a status line only when it changes: each call writes a line to Nimbus' log. */
    private static void setStatus(Cluster cluster, String id, String status) {
        if (!status.equals(cluster.getStatus(id))) {
            cluster.setStatus(id, status);
        }
    }

    private static CuratorFramework zooKeeper(Map<String, Object> conf, String login) throws IOException {
        @SuppressWarnings("unchecked")
        List<String> servers = (List<String>) conf.get(Config.STORM_ZOOKEEPER_SERVERS);
        return CuratorUtils.newCurator(conf, servers, conf.get(Config.STORM_ZOOKEEPER_PORT),
            ReadingsLogin.read(login, conf), null);
    }
}
