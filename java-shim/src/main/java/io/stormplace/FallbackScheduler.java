package io.stormplace;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.DefaultScheduler;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.IScheduler;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.utils.ReflectionUtils;

/**
 * A scheduler of Storm's that does what no plan does, kept away from everything else.
 *
 * <p>Storm's schedulers do not stop at the topologies they are called with: the default one goes through all topologies of the
 * cluster and spreads out again whatever uses fewer workers than it asked for. So the scheduler works on a copy that shows
 * only the wanted topologies while the others' slots stay taken, and only the wanted ones' workers are read back.
 *
 * <p>It works on a thread of its own, one run at a time. What is thrown or interrupted there is not Nimbus' timer thread, and a
 * run that takes longer than a round may wait goes on: what it proposes counts in a later round, if it still fits. A run that takes
 * {@value #MOST_MINUTES} minutes is interrupted and abandoned. Schedulers are not made for two threads at once, so that Storm's
 * default one takes the place of one that does not heed the interrupt; of such threads there is one at most. Used by the
 * scheduling thread alone, except for {@link #cleanup()}.
 */
final class FallbackScheduler {
    /** What the scheduler proposes for one topology: its complete workers and the status it set, or null. */
    record Proposal(Map<WorkerSlot, Set<ExecutorDetails>> slots, String status) {
    }

    /** What came of asking: proposals by topology id, and in a few words why the other topologies have none. */
    record Outcome(Map<String, Proposal> proposals, String otherwise) {
    }

    /** The scheduler at work: the topologies that it was given, the cluster that it changes, the status lines from before. */
    private record Run(Topologies shown, Cluster copy, Map<String, String> before, FutureTask<Void> task, Thread thread, long beganNs) {
    }

    /** Storm's resource-aware scheduler may take a minute for each topology that finds no room. */
    static final long MOST_MINUTES = 15;

    private final StateChangeLog changes;
    private final Threads threads;
    private final LongSupplier clockNs;
    private IScheduler configured = new DefaultScheduler();
    private volatile Run current;
    private Run abandoned;

    /**
     * Creates a fallback that is Storm's default scheduler until prepared.
     *
     * @param changes logs when the scheduler fails and recovers
     * @param threads makes the thread of a run
     * @param clockNs monotonic time in ns
     */
    FallbackScheduler(StateChangeLog changes, Threads threads, LongSupplier clockNs) {
        this.changes = changes;
        this.threads = threads;
        this.clockNs = clockNs;
    }

    /**
     * Makes and prepares the configured scheduler; Storm's default scheduler takes its place if that fails.
     *
     * @param className class name of an {@link IScheduler}
     * @param conf      Nimbus' configuration
     * @param registry  Nimbus' metrics
     */
    void prepare(String className, Map<String, Object> conf, StormMetricsRegistry registry) {
        try {
            if (className.equals(PlacementScheduler.class.getName())) {
                throw new IllegalArgumentException("the shim cannot be its own fallback");
            }
            IScheduler scheduler = ReflectionUtils.newInstance(className);
            scheduler.prepare(conf, registry);
            configured = scheduler;
        } catch (Exception | LinkageError e) {
            changes.bad(StateChangeLog.Subject.FALLBACK, "unusable", "Stormplace cannot use " + className + " as "
                + ShimSettings.FALLBACK_SCHEDULER + ", and uses " + name() + " instead: " + Text.describe(e), e);
        }
    }

    /**
     * Returns the name of the scheduler that runs now, or next, for status lines.
     *
     * @return simple class name
     */
    String name() {
        return delegate().getClass().getSimpleName();
    }

    /**
     * Lets the scheduler place some topologies, or looks what became of an earlier round's run.
     *
     * @param cluster the round's cluster; not changed
     * @param wanted  the topologies that it may touch; without workers, as it may restart those that they have. Without any,
     *                the proposals of an earlier run that has ended are dropped, as they grow old
     * @param waitMs  how long a new run is waited for; an earlier one is not waited for
     * @return proposals for wanted topologies
     * @throws InterruptedException if the calling thread is interrupted
     */
    Outcome propose(Cluster cluster, Collection<TopologyDetails> wanted, long waitMs) throws InterruptedException {
        abandonIfEndless();
        boolean late = current != null;
        if (!late && !wanted.isEmpty()) {
            Map<String, TopologyDetails> byId = new TreeMap<>();
            wanted.forEach(topology -> byId.put(topology.getId(), topology));
            Topologies shown = new Topologies(byId);
            if (!begin(shown, new RestrictedCluster(cluster, shown))) {
                return new Outcome(Map.of(), name() + " could not be started");
            }
            current.thread.join(waitMs);
        }
        Run run = current;
        if (run == null) {
            return new Outcome(Map.of(), "");
        }
        if (!run.task.isDone()) {
            return new Outcome(Map.of(), name() + " is still at work, its placement is used in a later round");
        }
        if (!succeeded(run)) {
            return new Outcome(Map.of(), name() + " failed");
        }
        Map<String, Proposal> proposals = new TreeMap<>();
        for (TopologyDetails topology : wanted) {
            String id = topology.getId();
            Map<WorkerSlot, Set<ExecutorDetails>> slots = SlotMap.of(run.copy, id);
            if (run.shown.getById(id) != null && (!late || fits(cluster, topology, slots))) {
                String status = run.copy.getStatus(id);
                boolean said = status != null && !status.equals(run.before.get(id));
                proposals.put(id, new Proposal(slots, said ? Text.oneLine(status) : null));
            }
        }
        return new Outcome(proposals, name() + " is asked in the next round");
    }

    /**
     * Lets the scheduler do a whole round as Storm would without the shim. Nothing bounds the time that it takes.
     *
     * @param topologies all topologies
     * @param cluster    the round's cluster; changed only if the scheduler succeeds
     * @throws InterruptedException if the calling thread is interrupted
     */
    void scheduleAll(Topologies topologies, Cluster cluster) throws InterruptedException {
        if (begin(topologies, new Cluster(cluster))) {
            Run run = current;
            if (succeeded(run)) {
                PlanApplier.commit(cluster, run.copy);
            }
        }
    }

    /** Releases what the scheduler holds. */
    void cleanup() {
        Run run = current;
        if (run != null) {
            run.task.cancel(true);
        }
        configured.cleanup();
    }

    private IScheduler delegate() {
        return abandoned == null ? configured : new DefaultScheduler();
    }

    private boolean hangs() {
        return abandoned != null && abandoned.thread.isAlive();
    }

    /** Begins a run; returns whether there was a thread for it. */
    private boolean begin(Topologies shown, Cluster copy) {
        if (!hangs()) {
            abandoned = null;
        }
        IScheduler scheduler = delegate();
        FutureTask<Void> task = new FutureTask<>(() -> scheduler.schedule(shown, copy), null);
        Thread thread = threads.make(task, "stormplace-fallback");
        current = new Run(shown, copy, new HashMap<>(copy.getStatusMap()), task, thread, clockNs.getAsLong());
        try {
            thread.start();
            return true;
        } catch (RuntimeException | Error e) {
            current = null;
            changes.bad(StateChangeLog.Subject.FALLBACK, "no thread", "Stormplace's fallback scheduler " + name()
                + " could not be started, what is unassigned stays so: " + Text.describe(e), e);
            return false;
        }
    }

    /** Makes room for a new run where one has no end, unless another such run has not ended either. */
    private void abandonIfEndless() {
        Run run = current;
        if (run == null || run.task.isDone() || hangs()
            || clockNs.getAsLong() - run.beganNs < TimeUnit.MINUTES.toNanos(MOST_MINUTES)) {
            return;
        }
        changes.bad(StateChangeLog.Subject.FALLBACK, "endless", "Stormplace's fallback scheduler " + name() + " was at work for "
            + MOST_MINUTES + " minutes and is interrupted; DefaultScheduler takes its place until it ends.");
        current = null;
        abandoned = run;
        run.task.cancel(true);
    }

    /** Waits for a run to end. Of interrupts only that of the calling thread gets out of here. */
    private boolean succeeded(Run run) throws InterruptedException {
        try {
            run.task.get();
            current = null;
            changes.good(StateChangeLog.Subject.FALLBACK, "Stormplace's fallback scheduler " + name() + " works.");
            return true;
        } catch (ExecutionException e) {
            current = null;
            changes.bad(StateChangeLog.Subject.FALLBACK, "threw", "Stormplace's fallback scheduler " + name()
                + " failed, what is unassigned stays so: " + Text.describe(e.getCause()), e.getCause());
            return false;
        }
    }

    /** Whether what was proposed for a topology in an earlier round can be applied now. */
    private static boolean fits(Cluster cluster, TopologyDetails topology, Map<WorkerSlot, Set<ExecutorDetails>> slots) {
        Set<WorkerSlot> own = SlotMap.of(cluster, topology.getId()).keySet();
        return slots.entrySet().stream().allMatch(worker -> topology.getExecutors().containsAll(worker.getValue())
            && PlanValidator.faults(worker.getKey(), own, cluster).isEmpty());
    }

    /**
     * A copy of a cluster that names only some topologies while the slots of all remain occupied.
     *
     * <p>A copy that really held fewer topologies would drop the other assignments and offer their slots as free.
     */
    private static final class RestrictedCluster extends Cluster {
        private final Topologies shown;

        RestrictedCluster(Cluster source, Topologies shown) {
            super(source);
            this.shown = shown;
        }

        @Override
        public Topologies getTopologies() {
            return shown;
        }
    }
}
