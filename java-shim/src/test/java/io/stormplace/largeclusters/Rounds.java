package io.stormplace.largeclusters;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.IScheduler;

/** Rounds of one scheduler on one cluster, one after the other as Nimbus does them, each on a new {@link Cluster}. */
final class Rounds {
    private final BenchmarkCluster cluster;
    private final Map<String, Object> nimbusConf;
    private final Spec spec;
    private final IScheduler scheduler;
    private final ProcessorTime daemon;
    private final Runnable beforeRound;

    /**
     * Prepares the scheduler; {@link #end} releases it.
     *
     * @param beforeRound called before each round
     */
    Rounds(BenchmarkCluster cluster, Spec spec, IScheduler scheduler, boolean asksDaemon, Runnable beforeRound) {
        this.cluster = cluster;
        this.spec = spec;
        this.scheduler = scheduler;
        this.beforeRound = beforeRound;
        nimbusConf = BenchmarkCluster.nimbusConf(spec.nimbus());
        daemon = new ProcessorTime(asksDaemon ? spec.daemonPid() : 0);
        scheduler.prepare(nimbusConf, new StormMetricsRegistry());
    }

    void end() {
        scheduler.cleanup();
    }

    /**
     * What rounds made of a state.
     *
     * @param state     the state afterwards
     * @param seconds   of each {@code schedule()} in the calling thread
     * @param processor seconds of the daemon's processor time in all of them
     */
    record Outcome(Cluster state, List<Double> seconds, double processor) {
        Map<String, Object> figures() {
            return ClusterJson.object("seconds", seconds, "daemon_processor_s", processor, "placed", BenchmarkCluster.placed(state));
        }
    }

    Cluster empty() {
        return cluster.state(nimbusConf, cluster.supervisors(), Map.of());
    }

    /** Does rounds until all executors are placed, or the most that the specification allows. */
    Outcome place(Cluster start) throws InterruptedException {
        List<Double> seconds = new ArrayList<>();
        double processorBefore = daemon.seconds();
        Cluster state = start;
        while (true) {
            state = new Cluster(state);
            seconds.add(round(state));
            if (seconds.size() == spec.mostRounds() || BenchmarkCluster.placed(state) == cluster.executors()) {
                return new Outcome(state, seconds, daemon.seconds() - processorBefore);
            }
            Thread.sleep(spec.pauseMs());
        }
    }

    /**
     * Does rounds in which nothing changed. The daemon's processor time is that of the rounds and the pauses after them, as it may work on
     * after its answer; where there is none, there is no pause.
     */
    Map<String, Object> unchanged(Cluster placed) throws InterruptedException {
        List<Double> seconds = new ArrayList<>();
        double processorBefore = daemon.seconds();
        long beganNs = System.nanoTime();
        Cluster state = placed;
        for (int i = 0; i < spec.unchangedRounds(); i++) {
            state = new Cluster(state);
            seconds.add(round(state));
            Thread.sleep(daemon.measured() ? spec.unchangedPauseMs() : 0);
        }
        return ClusterJson.object("seconds", seconds, "lasted_s", (System.nanoTime() - beganNs) / 1e9,
            "daemon_processor_s", daemon.seconds() - processorBefore, "restarted", Loss.Disturbance.between(placed, state).restarted());
    }

    /** Lets a placed cluster lose something, and has the scheduler mend it. */
    List<Object> losses(Cluster placed) throws InterruptedException {
        Random random = new Random(spec.seed());
        List<Object> figures = new ArrayList<>();
        for (Loss loss : List.of(Loss.oneInEach(placed, spec.missingTopologies(), random),
                Loss.ofTheLargest(placed, spec.missingExecutors(), random), Loss.fullestHost(placed))) {
            Cluster before = loss.after(cluster, nimbusConf, placed);
            Outcome outcome = place(before);
            Loss.Disturbance disturbance = Loss.Disturbance.between(before, outcome.state());
            Map<String, Object> row = ClusterJson.object("scenario", loss.name(), "missing",
                cluster.executors() - BenchmarkCluster.placed(before));
            row.putAll(outcome.figures());
            row.put("restarted", disturbance.restarted());
            row.put("moved", disturbance.moved());
            figures.add(row);
        }
        return figures;
    }

    /** How many topologies have each status line; numbers in it are left out, so that lines that differ in them alone count as one. */
    static Map<String, Integer> statuses(Cluster state) {
        Collection<String> lines = state.getStatusMap().values();
        Map<String, Integer> statuses = new TreeMap<>();
        lines.forEach(line -> statuses.merge(line.replaceAll("\\d+([.,]\\d+)*", "#"), 1, Integer::sum));
        return statuses;
    }

    private double round(Cluster state) {
        beforeRound.run();
        long startNs = System.nanoTime();
        scheduler.schedule(state.getTopologies(), state);
        return (System.nanoTime() - startNs) / 1e9;
    }
}
