package io.stormplace.largeclusters;

import io.stormplace.PlacementScheduler;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.Config;
import org.apache.storm.scheduler.DefaultScheduler;
import org.apache.storm.scheduler.IScheduler;
import org.apache.storm.scheduler.resource.ResourceAwareScheduler;
import org.apache.storm.shade.net.minidev.json.JSONValue;
import org.apache.storm.testing.InProcessZookeeper;

/**
 * Runs schedulers on a large cluster in memory: {@code python -m benchmarks.large_clusters} starts it.
 *
 * <p>The argument is a file that holds a {@link Spec} as JSON. Writes the cluster and every assignment into the specification's folder,
 * and to standard output one line of JSON per run, and before each round one that names the scheduler. All schedulers run in this
 * process, in turn, each on a cluster that is built for it, after rounds on a small cluster that are not counted. A ZooKeeper without
 * readings runs beside them, as beside any Nimbus.
 */
public final class LargeClusters {
    private static final MadeCluster SMALL = new MadeCluster(20, 2, 10, 40, 1, 5, 1);
    private static final int WARM_UPS = 3;

    private LargeClusters() {
    }

    /**
     * Runs the benchmark.
     *
     * @param args the specification's file
     * @throws Exception if ZooKeeper cannot be started or a file cannot be read or written
     */
    public static void main(String[] args) throws Exception {
        @SuppressWarnings("unchecked")
        Spec spec = Spec.of((Map<String, Object>) JSONValue.parse(Files.readString(Path.of(args[0]))));
        write(spec, "cluster", ClusterJson.cluster(spec.build(), BenchmarkCluster.nimbusConf(spec.nimbus())));
        if (!spec.schedulers().isEmpty()) {
            try (InProcessZookeeper zookeeper = new InProcessZookeeper()) {
                spec.nimbus().put(Config.STORM_ZOOKEEPER_SERVERS, List.of("127.0.0.1"));
                spec.nimbus().put(Config.STORM_ZOOKEEPER_PORT, (int) zookeeper.getPort());
                measure(spec);
            }
        }
        System.exit(0);
    }

    private static void measure(Spec spec) throws IOException, InterruptedException {
        for (String name : spec.schedulers()) {
            for (int i = 0; i < WARM_UPS; i++) {
                Rounds rounds = rounds(name, SMALL.make("small"), spec.hurried());
                rounds.unchanged(rounds.place(rounds.empty()).state());
                rounds.end();
            }
        }
        List<String> turn = new ArrayList<>(spec.schedulers());
        for (int repeat = 0; repeat < spec.repeats(); repeat++) {
            for (String name : turn) {
                System.out.println(JSONValue.toJSONString(run(name, repeat, spec)));
            }
            // the next repeat begins with another scheduler
            turn.add(turn.remove(0));
        }
    }

    private static Map<String, Object> run(String name, int repeat, Spec spec) throws IOException, InterruptedException {
        BenchmarkCluster cluster = spec.build();
        Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();
        Rounds rounds = rounds(name, cluster, spec);
        System.gc();
        Rounds.Outcome outcome = rounds.place(rounds.empty());
        String file = "assignment-" + name + "-" + repeat;
        write(spec, file, ClusterJson.assignment(cluster, name, outcome.state()));
        Map<String, Object> figures = ClusterJson.object("scheduler", name, "repeat", repeat, "assignment", file + ".json",
            "executors", cluster.executors(), "statuses", Rounds.statuses(outcome.state()));
        figures.putAll(outcome.figures());
        figures.put("unchanged", rounds.unchanged(outcome.state()));
        if (spec.losses() && BenchmarkCluster.placed(outcome.state()) > 0) {
            figures.put("losses", rounds.losses(outcome.state()));
        }
        figures.put("scheduler_threads", Thread.getAllStackTraces().keySet().stream().filter(each -> !threadsBefore.contains(each))
            .map(Thread::getName).sorted().toList());
        double withSchedulerMb = usedHeapMb();
        figures.put("heap_mb", withSchedulerMb);
        rounds.end();
        rounds = null;
        figures.put("scheduler_heap_mb", withSchedulerMb - usedHeapMb());
        // else what the state holds would be counted as the scheduler's
        Reference.reachabilityFence(outcome);
        return figures;
    }

    private static double usedHeapMb() {
        System.gc();
        return (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) / 1e6;
    }

    private static Rounds rounds(String name, BenchmarkCluster cluster, Spec spec) {
        IScheduler scheduler = switch (name) {
            case "stormplace" -> new PlacementScheduler();
            case "ras" -> new ResourceAwareScheduler();
            case "default" -> new DefaultScheduler();
            default -> throw new IllegalArgumentException("unknown scheduler " + name);
        };
        return new Rounds(cluster, spec, scheduler, name.equals("stormplace"),
            () -> System.out.println(JSONValue.toJSONString(Map.of("round_of", name))));
    }

    private static void write(Spec spec, String name, Map<String, Object> json) throws IOException {
        Files.writeString(Path.of(spec.folder(), name + ".json"), JSONValue.toJSONString(json));
    }
}
