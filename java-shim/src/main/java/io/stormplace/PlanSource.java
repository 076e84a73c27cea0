package io.stormplace;

import com.codahale.metrics.Timer;
import io.stormplace.wire.PlanResponse;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * Gets a checked plan for a round: snapshot, call, validation, and the log of the daemon's state.
 *
 * <p>Used by the scheduling thread alone, except for {@link #close()}.
 */
final class PlanSource implements AutoCloseable {
    private record Answer(PlanValidator.Checked checked, PlanResponse response) {
    }

    private final ShimSettings settings;
    private final String identity;
    private final String clusterKeys;
    private final ReadingsCache readings;
    private final TopologyStatuses statuses;
    private final StateChangeLog changes;
    private final DaemonClient client;
    private final CircuitBreaker breaker;
    private final ShimMetrics metrics;
    private final LastAssignments last = new LastAssignments();
    private final SnapshotBuilder snapshots = new SnapshotBuilder(last);
    private final ConfHashes confs = new ConfHashes();
    private final HeldPlan held = new HeldPlan();
    private final String instance = UUID.randomUUID().toString().substring(0, 8);
    private long rounds;

    /**
     * Creates a source; nothing is connected yet.
     *
     * @param settings the daemon's address and the deadline
     * @param readings the readings to send along
     * @param statuses the statuses of topologies to send along
     * @param changes  logs how the daemon does
     * @param identity names the cluster to the daemon
     * @param keys     keys of Nimbus' configuration for the daemon
     * @param breaker  decides whether the daemon may be asked
     * @param metrics  counts rounds and takes their time
     */
    PlanSource(ShimSettings settings, ReadingsCache readings, TopologyStatuses statuses, StateChangeLog changes, String identity,
               ClusterKeys keys, CircuitBreaker breaker, ShimMetrics metrics) {
        this.settings = settings;
        this.identity = identity;
        this.clusterKeys = keys.json();
        this.readings = readings;
        this.statuses = statuses;
        this.changes = changes;
        this.client = new DaemonClient(settings.daemonHost(), settings.daemonPort(), Threads.DAEMONS);
        this.breaker = breaker;
        this.metrics = metrics;
    }

    /**
     * Asks for a plan and checks it.
     *
     * @param topologies all topologies of the round
     * @param cluster    the round's cluster; not changed
     * @param startNs    monotonic time when the round began
     * @return a verdict for every topology of the round, by id; all refused if there is no usable answer
     * @throws InterruptedException if the scheduling thread is interrupted
     */
    Map<String, Verdict> plan(Topologies topologies, Cluster cluster, long startNs) throws InterruptedException {
        metrics.rounds().mark();
        String reason;
        try {
            Map<String, Verdict> verdicts = checkedPlan(topologies, cluster, startNs);
            changes.good(StateChangeLog.Subject.PLAN, "Stormplace can describe the cluster and check plans.");
            return verdicts;
        } catch (DaemonFault e) {
            reason = e.getMessage();
            changes.bad(StateChangeLog.Subject.DAEMON, e.kind().name(), "Stormplace has no plan, "
                + settings.fallbackScheduler() + " places what is unassigned: " + reason);
        } catch (RuntimeException | LinkageError | StackOverflowError e) {
            reason = "the shim failed: " + Text.describe(e);
            changes.bad(StateChangeLog.Subject.PLAN, e.getClass().getName(), "Stormplace has no plan, "
                + settings.fallbackScheduler() + " places what is unassigned: " + reason, e);
        }
        metrics.roundsWithoutPlan().mark();
        Map<String, Verdict> verdicts = new TreeMap<>();
        for (TopologyDetails topology : topologies) {
            verdicts.put(topology.getId(), Verdict.refused(reason));
        }
        return verdicts;
    }

    /**
     * Returns the workers to which a topology that has none can go back as a whole.
     *
     * @param topology the topology
     * @param cluster  the round's cluster; not changed
     * @return slot to executors, empty if it cannot
     */
    Map<WorkerSlot, Set<ExecutorDetails>> lastWorkers(TopologyDetails topology, Cluster cluster) {
        return last.workers(topology, cluster);
    }

    /**
     * Takes note of where executors run from now on.
     *
     * @param topologies all topologies of the round
     * @param cluster    the round's cluster with all that was applied; not changed
     */
    void remember(Topologies topologies, Cluster cluster) {
        last.remember(topologies, cluster);
    }

    /** Abandons a call that is under way. */
    @Override
    public void close() {
        client.close();
    }

    private Map<String, Verdict> checkedPlan(Topologies topologies, Cluster cluster, long startNs)
        throws DaemonFault, InterruptedException {
        Map<String, String> known = statuses.known();
        long fingerprint = Fingerprint.of(topologies, cluster, known, confs, readings.drains());
        Map<String, Verdict> holding = held.verdicts(fingerprint, startNs);
        if (holding != null) {
            return holding;
        }
        last.remember(topologies, cluster);
        breaker.admit(startNs);
        rounds++;
        Snapshot snapshot;
        try (Timer.Context ignored = metrics.describing().time()) {
            snapshot = snapshots.build(instance + "-" + rounds, topologies, cluster, readings.view(),
                () -> leftMs(startNs) < settings.deadlineMs() / 2);
        }
        snapshot.request().getTopologies().forEach(topology -> topology.setStatus(known.get(topology.getId())));
        Answer answer = ask(snapshot, cluster, startNs);
        Map<String, Verdict> verdicts = new TreeMap<>(answer.checked().verdicts());
        metrics.topologiesRefused().mark(
            verdicts.values().stream().filter(verdict -> verdict.outcome() == Verdict.Outcome.REFUSED).count());
        snapshot.leftOut().forEach((id, reason) -> verdicts.put(id, Verdict.refused(reason)));
        snapshot.waiting().forEach(id -> verdicts.put(id, new Verdict(Verdict.Outcome.WAIT, Turns.WAITING, Map.of())));
        verdicts.forEach((id, verdict) -> {
            if (verdict.outcome() == Verdict.Outcome.EVICT) {
                last.forget(id);
            }
        });
        report(answer.checked());
        report(snapshot.leftOut());
        held.hold(fingerprint, answer.response(), verdicts, System.nanoTime());
        return verdicts;
    }

    private Answer ask(Snapshot snapshot, Cluster cluster, long startNs)
        throws DaemonFault, InterruptedException {
        int budgetMs = leftMs(startNs);
        try {
            if (budgetMs < 1) {
                throw new DaemonFault(DaemonFault.Kind.SLOW, "describing the cluster took the whole deadline", null);
            }
            snapshot.request().setDeadline_ms(budgetMs);
            snapshot.request().setCluster(identity);
            snapshot.request().setCluster_json(clusterKeys);
            PlanResponse response;
            try (Timer.Context ignored = metrics.answering().time()) {
                response = client.plan(snapshot.request(), budgetMs, breaker.suspicious());
            }
            PlanValidator.Checked checked = PlanValidator.check(snapshot, response, cluster);
            breaker.succeeded();
            return new Answer(checked, response);
        } catch (DaemonFault e) {
            breaker.failed(e, startNs, System.nanoTime());
            throw e;
        }
    }

    private int leftMs(long startNs) {
        return settings.deadlineMs() - (int) TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
    }

    private void report(Map<String, String> leftOut) {
        if (leftOut.isEmpty()) {
            changes.good(StateChangeLog.Subject.SNAPSHOT, "Stormplace describes all topologies to the daemon.");
        } else {
            // Which topologies there was no time for may be others in each round.
            changes.bad(StateChangeLog.Subject.SNAPSHOT, new TreeSet<>(leftOut.values()).toString(),
                "Stormplace left some topologies out of its question to the daemon: " + Text.oneLine(leftOut.toString()));
        }
    }

    private void report(PlanValidator.Checked checked) {
        Map<String, String> refused = new TreeMap<>();
        checked.verdicts().forEach((id, verdict) -> {
            if (verdict.outcome() == Verdict.Outcome.REFUSED) {
                refused.put(id, verdict.status());
            }
        });
        checked.strays().forEach(id -> refused.put(id, "is not a topology of this round"));
        if (refused.isEmpty()) {
            changes.good(StateChangeLog.Subject.DAEMON, "Stormplace has plans from " + settings.daemonHost() + ":"
                + settings.daemonPort() + ".");
        } else {
            changes.bad(StateChangeLog.Subject.DAEMON, "unusable for " + refused.keySet(),
                "Stormplace has no usable plan for some topologies: " + Text.oneLine(refused.toString()));
        }
    }
}
