import java.util.List;
import java.util.Map;
import org.apache.storm.LocalCluster;
import org.apache.storm.generated.ExecutorSummary;
import org.apache.storm.testing.TestWordCounter;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;

/** Runs a topology on two workers in this JVM, which so loads what Storm's daemons and workers load. */
final class LoadedClasses {
    private static final long MOST_MS = 60_000;
    private static final String NAME = "loaded-classes";

    private LoadedClasses() {
    }

    public static void main(String[] arguments) throws Exception {
        TopologyBuilder topology = new TopologyBuilder();
        topology.setSpout("words", new TestWordSpout(), 2);
        topology.setBolt("counts", new TestWordCounter(), 2).fieldsGrouping("words", new Fields("word"));
        LocalCluster.Builder builder = new LocalCluster.Builder()
                .withSupervisors(2)
                .withPortsPerSupervisor(1)
                .withDaemonConf(Map.of(
                        // messages through sockets, as between hosts
                        "storm.local.mode.zmq", true,
                        "storm.metricstore.rocksdb.location", System.getProperty("java.io.tmpdir") + "/metrics"));
        try (LocalCluster cluster = builder.build()) {
            cluster.submitTopology(NAME, Map.of("topology.workers", 2), topology.createTopology());
            long end = System.currentTimeMillis() + MOST_MS;
            while (!runs(cluster)) {
                if (System.currentTimeMillis() > end) {
                    throw new IllegalStateException("no worker of the topology ran within " + MOST_MS + " ms");
                }
                Thread.sleep(100);
            }
        }
        System.exit(0);
    }

    private static boolean runs(LocalCluster cluster) throws Exception {
        List<ExecutorSummary> executors = cluster.getTopologyInfoByName(NAME).get_executors();
        return !executors.isEmpty() && executors.stream().allMatch(each -> each.get_uptime_secs() > 0);
    }
}
