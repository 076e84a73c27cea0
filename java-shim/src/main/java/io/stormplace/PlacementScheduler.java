package io.stormplace;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.IScheduler;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.utils.CuratorUtils;
import org.apache.thrift.TException;
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
    private ShimSettings settings;
    private ReadingsCache readings;
    private TopologyStatuses statuses;
    private PlanSource plans;
    private Enactment enactment;

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
        ShimMetrics metrics = ShimMetrics.register(registry, breaker);
        plans = new PlanSource(settings, readings, statuses, changes, ClusterIdentity.of(conf), keys, breaker, metrics);
        enactment = new Enactment(plans, fallback, metrics, settings.deadlineMs());
        fallback.prepare(settings.fallbackScheduler(), conf, registry);
        try {
            Rehearsal.play(conf);
        } catch (TException | DaemonFault | RuntimeException | LinkageError e) {
            // Nothing but the speed of the first round depends on it.
            LOG.warn("Stormplace could not rehearse a round, its first one may be slow", e);
        }
    }

    /**
     * Does one round.
     *
     * @param topologies all topologies of the cluster
     * @param cluster    the cluster; each step (plan, new workers, last workers, fallback) changes it completely or not at all, and a
     *                   step that fails keeps no later one from being taken
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
                enactment.enact(topologies, cluster, verdicts);
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

    private void shadow(Topologies topologies, Cluster cluster, Map<String, Verdict> verdicts)
        throws InterruptedException {
        fallback.scheduleAll(topologies, cluster);
        verdicts.forEach((id, verdict) -> Enactment.setStatus(cluster, id, ShadowStatus.of(cluster.getStatus(id), verdict)));
    }

    private static CuratorFramework zooKeeper(Map<String, Object> conf, String login) throws IOException {
        @SuppressWarnings("unchecked")
        List<String> servers = (List<String>) conf.get(Config.STORM_ZOOKEEPER_SERVERS);
        return CuratorUtils.newCurator(conf, servers, conf.get(Config.STORM_ZOOKEEPER_PORT),
            ReadingsLogin.read(login, conf), null);
    }
}
