package io.stormplace;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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
 */
final class FallbackScheduler {
    /** What the scheduler proposes for one topology: its complete workers and the status it set, or null. */
    record Proposal(Map<WorkerSlot, Set<ExecutorDetails>> slots, String status) {
    }

    private final StateChangeLog changes;
    private IScheduler delegate = new DefaultScheduler();

    /**
     * Creates a fallback that is Storm's default scheduler until prepared.
     *
     * @param changes logs when the scheduler fails and recovers
     */
    FallbackScheduler(StateChangeLog changes) {
        this.changes = changes;
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
            delegate = scheduler;
        } catch (Exception | LinkageError e) {
            changes.bad(StateChangeLog.Subject.FALLBACK, "unusable", "Stormplace cannot use " + className + " as "
                + ShimSettings.FALLBACK_SCHEDULER + ", and uses " + name() + " instead: " + Text.describe(e), e);
        }
    }

    /**
     * Returns the scheduler's name for status lines.
     *
     * @return simple class name
     */
    String name() {
        return delegate.getClass().getSimpleName();
    }

    /**
     * Lets the scheduler place some topologies. Nothing bounds the time that it takes.
     *
     * @param cluster the round's cluster; not changed
     * @param wanted  the topologies that it may touch; without workers, as it may restart those that they have
     * @return topology id to proposal for each wanted topology; empty if the scheduler failed
     * @throws InterruptedException if the scheduler was interrupted
     */
    Map<String, Proposal> propose(Cluster cluster, Collection<TopologyDetails> wanted) throws InterruptedException {
        Map<String, Proposal> proposals = new TreeMap<>();
        if (wanted.isEmpty()) {
            return proposals;
        }
        Map<String, TopologyDetails> byId = new TreeMap<>();
        wanted.forEach(topology -> byId.put(topology.getId(), topology));
        Topologies shown = new Topologies(byId);
        Cluster copy = new RestrictedCluster(cluster, shown);
        if (run(shown, copy)) {
            for (String id : byId.keySet()) {
                String before = cluster.getStatus(id);
                String after = copy.getStatus(id);
                boolean said = after != null && !after.equals(before);
                proposals.put(id, new Proposal(SlotMap.of(copy, id), said ? Text.oneLine(after) : null));
            }
        }
        return proposals;
    }

    /**
     * Lets the scheduler do a whole round as Storm would without the shim.
     *
     * @param topologies all topologies
     * @param cluster    the round's cluster; changed only if the scheduler succeeds
     * @throws InterruptedException if the scheduler was interrupted
     */
    void scheduleAll(Topologies topologies, Cluster cluster) throws InterruptedException {
        Cluster copy = new Cluster(cluster);
        if (run(topologies, copy)) {
            PlanApplier.commit(cluster, copy);
        }
    }

    /** Releases what the scheduler holds. */
    void cleanup() {
        delegate.cleanup();
    }

    private boolean run(Topologies topologies, Cluster copy) throws InterruptedException {
        try {
            delegate.schedule(topologies, copy);
            changes.good(StateChangeLog.Subject.FALLBACK, "Stormplace's fallback scheduler " + name() + " works.");
            return true;
        } catch (Exception | LinkageError | StackOverflowError e) {
            if (Interrupts.caused(e)) {
                throw (InterruptedException) new InterruptedException("the fallback scheduler was interrupted").initCause(e);
            }
            changes.bad(StateChangeLog.Subject.FALLBACK, "threw", "Stormplace's fallback scheduler " + name()
                + " failed, what is unassigned stays so: " + Text.describe(e), e);
            return false;
        }
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
