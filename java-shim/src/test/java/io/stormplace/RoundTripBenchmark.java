package io.stormplace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFramework;
import org.apache.storm.shade.org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.storm.shade.org.apache.curator.retry.RetryOneTime;
import org.apache.storm.testing.InProcessZookeeper;
import org.apache.storm.testing.TestGlobalCount;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.topology.TopologyBuilder;

/**
 * Measures rounds of {@code schedule()} against a running daemon: three topologies of eight operators in a chain, seven hosts at
 * three sites with two slots each, and a reading for every host in a ZooKeeper of its own.
 *
 * <p>Arguments: host, port, and optionally the number of rounds (1000). Prints one JSON object; times are in ms. The first round,
 * in which everything is placed, is given separately. Percentiles are over the rounds that got a plan; a round without one is
 * counted and followed by a pause, or the rounds of the back-off, which do not ask, would be done in no time.
 */
public final class RoundTripBenchmark {
    private static final int OPERATORS = 8;
    private static final int TOPOLOGIES = 3;
    private static final long PAUSE_MS = 1_000;
    private static final int MAX_WITHOUT_PLAN = 100;
    private static final Map<String, Integer> SITES = Map.of("uniroma2", 3, "europe-west1", 2, "us-east1", 2);
    private static final Map<String, String> COORDINATES = Map.of("uniroma2", "0.0, 0.0, 0.0",
        "europe-west1", "27.5, 0.0, 0.0", "us-east1", "110.5, 45.5, 0.0");

    private RoundTripBenchmark() {
    }

    /**
     * Runs the benchmark.
     *
     * @param args host, port, rounds
     * @throws Exception if ZooKeeper cannot be started
     */
    public static void main(String[] args) throws Exception {
        if (args.length < 2 || args.length > 3) {
            System.err.println("arguments: HOST PORT [ROUNDS]");
            System.exit(2);
        }
        int rounds = args.length == 3 ? Integer.parseInt(args[2]) : 1_000;
        try (InProcessZookeeper zookeeper = new InProcessZookeeper()) {
            publishReadings(zookeeper.getPort());
            Map<String, Object> conf = Fixture.conf(ShimSettings.DAEMON_HOST, args[0], ShimSettings.DAEMON_PORT,
                Integer.parseInt(args[1]), Config.STORM_ZOOKEEPER_PORT, (int) zookeeper.getPort());
            System.out.println(measure(conf, rounds));
        }
        System.exit(0);
    }

    private static String measure(Map<String, Object> conf, int rounds) throws InterruptedException {
        Fixture fixture = fixture();
        Topologies topologies = fixture.topologies();
        PlacementScheduler scheduler = new PlacementScheduler();
        scheduler.prepare(conf, new StormMetricsRegistry());
        Cluster cluster = fixture.cluster();
        double firstMs = round(scheduler, topologies, cluster);
        double[] timesMs = new double[rounds];
        int withoutPlan = 0;
        double longestWithoutPlanMs = 0;
        for (int i = 0; i < rounds;) {
            // Nimbus makes a new cluster for every round; that is not the shim's time.
            Cluster next = new Cluster(cluster);
            double timeMs = round(scheduler, topologies, next);
            cluster = next;
            if (cluster.getStatusMap().values().stream().anyMatch(status -> status.startsWith("No plan"))) {
                withoutPlan++;
                longestWithoutPlanMs = Math.max(longestWithoutPlanMs, timeMs);
                if (withoutPlan == MAX_WITHOUT_PLAN) {
                    throw new IllegalStateException("the daemon gives no plans: " + cluster.getStatusMap());
                }
                Thread.sleep(PAUSE_MS);
            } else {
                timesMs[i++] = timeMs;
            }
        }
        scheduler.cleanup();
        Arrays.sort(timesMs);
        return String.format(Locale.ROOT, "{\"rounds\": %d, \"topologies\": %d, \"executors\": %d, "
            + "\"first_ms\": %.3f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f, "
            + "\"rounds_without_plan\": %d, \"longest_without_plan_ms\": %.3f}",
            rounds, TOPOLOGIES, TOPOLOGIES * OPERATORS, firstMs, percentile(timesMs, 50), percentile(timesMs, 99),
            timesMs[rounds - 1], withoutPlan, longestWithoutPlanMs);
    }

    private static double round(PlacementScheduler scheduler, Topologies topologies, Cluster cluster) {
        long startNs = System.nanoTime();
        scheduler.schedule(topologies, cluster);
        return (System.nanoTime() - startNs) / 1e6;
    }

    /** The smallest value that is not exceeded by the given share of all values. */
    private static double percentile(double[] sorted, int percent) {
        return sorted[(int) Math.ceil(sorted.length * percent / 100.0) - 1];
    }

    private static Fixture fixture() {
        Fixture fixture = new Fixture();
        SITES.forEach((site, hosts) -> {
            for (int i = 1; i <= hosts; i++) {
                fixture.supervisor("id-of-" + site + "-" + i, site + "-" + i, List.of(6700, 6701),
                    Map.of("stormplace.site", site, "stormplace.executors", "4"));
            }
        });
        for (int i = 1; i <= TOPOLOGIES; i++) {
            Map<ExecutorDetails, String> executors = new HashMap<>();
            for (int task = 1; task <= OPERATORS; task++) {
                executors.put(new ExecutorDetails(task, task), "operator-" + task);
            }
            fixture.topology("topology-" + i, 2, chain(), executors);
        }
        return fixture;
    }

    private static StormTopology chain() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("operator-1", new TestWordSpout());
        for (int i = 2; i <= OPERATORS; i++) {
            builder.setBolt("operator-" + i, new TestGlobalCount()).shuffleGrouping("operator-" + (i - 1));
        }
        return builder.createTopology();
    }

    private static void publishReadings(long port) throws Exception {
        try (CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, new RetryOneTime(100))) {
            client.start();
            for (Map.Entry<String, Integer> site : SITES.entrySet()) {
                for (int i = 1; i <= site.getValue(); i++) {
                    String host = site.getKey() + "-" + i;
                    String reading = "{\"version\": 1, \"time\": " + System.currentTimeMillis() / 1000.0
                        + ", \"sequence\": 1, \"lifetime_s\": 3600.0, \"host\": \"" + host + "\", \"site\": \""
                        + site.getKey() + "\", \"coordinate\": [" + COORDINATES.get(site.getKey())
                        + "], \"height\": 0.1, \"error\": 0.05, \"availability\": 1.0, "
                        + "\"load\": {\"cpu\": 0.1, \"memory\": 0.2}, \"probe\": \"10.0.0.1:7091\"}";
                    client.create().creatingParentsIfNeeded()
                        .forPath("/stormplace/nodes/" + host, reading.getBytes(StandardCharsets.UTF_8));
                }
            }
        }
    }
}
