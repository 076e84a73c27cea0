package io.stormplace.largeclusters;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.utils.Utils;

/**
 * Clusters that Storm's developers recorded (Apache License 2.0), from the {@code tests} jar of storm-server.
 *
 * <p>The jar holds topologies and their configuration. The hosts are those that Storm's own test TestLargeCluster gives them, with its
 * 50 units of a generic resource on each.
 */
final class RecordedCluster {
    static final String PREFIX = "recorded-";
    private static final String FOLDER = "clusterconf/largeCluster";
    private static final String CODE = "-stormcode.ser";
    private static final String CONF = "-stormconf.ser";
    /** Any class of the jar tells where the jar is; the jar need not hold an entry for a folder. */
    private static final String LANDMARK = "org/apache/storm/scheduler/resource/TestUtilsForResourceAwareScheduler.class";
    private static final List<String> CLASS_NAMES = List.of(Config.TOPOLOGY_SCHEDULER_STRATEGY,
        Config.STORM_NETWORK_TOPOGRAPHY_PLUGIN, DaemonConfig.RESOURCE_AWARE_SCHEDULER_PRIORITY_STRATEGY);

    private RecordedCluster() {
    }

    /**
     * Reads a recorded cluster; topologies without executors are left out.
     *
     * @param number {@code 01}, {@code 02} or {@code 03}
     */
    static BenchmarkCluster read(String number) {
        List<HostKind> kinds = hosts(number);
        List<TopologyDetails> topologies = new ArrayList<>();
        URL landmark = RecordedCluster.class.getClassLoader().getResource(LANDMARK);
        if (landmark == null) {
            throw new IllegalStateException("storm-server's tests jar is not on the class path");
        }
        try (JarFile jar = jar(landmark)) {
            TreeSet<String> names = new TreeSet<>();
            jar.stream().map(JarEntry::getName).filter(name -> name.startsWith(FOLDER + number + "/") && name.endsWith(CODE))
                .forEach(names::add);
            for (String name : names) {
                String stem = name.substring(0, name.length() - CODE.length());
                TopologyDetails details = topology(stem.substring(stem.lastIndexOf('/') + 1), bytes(jar, name), bytes(jar, stem + CONF));
                if (!details.getExecutors().isEmpty()) {
                    topologies.add(details);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new BenchmarkCluster(PREFIX + number, HostKind.supervisors(kinds, Map.of("network.resource.units", 50.0)), topologies);
    }

    private static TopologyDetails topology(String id, byte[] code, byte[] recorded) {
        Map<String, Object> conf = new HashMap<>(Utils.readDefaultConfig());
        Utils.fromCompressedJsonConf(recorded).forEach((key, value) -> {
            if (value != null) {
                conf.put(key, value);
            }
        });
        for (String key : CLASS_NAMES) {
            // some were recorded on a Storm whose packages had another name
            conf.computeIfPresent(key, (k, name) -> name.toString().replaceFirst("^backtype\\.", "org.apache."));
        }
        int workers = Integer.parseInt(conf.get(Config.TOPOLOGY_WORKERS).toString());
        return BenchmarkCluster.details(id, Utils.deserialize(code, StormTopology.class), conf, workers);
    }

    private static JarFile jar(URL inside) throws IOException {
        JarURLConnection connection = (JarURLConnection) inside.openConnection();
        connection.setUseCaches(false);
        return connection.getJarFile();
    }

    private static byte[] bytes(JarFile jar, String name) throws IOException {
        try (InputStream stream = jar.getInputStream(jar.getJarEntry(name))) {
            return stream.readAllBytes();
        }
    }

    private static List<HostKind> hosts(String number) {
        return switch (number) {
            case "01" -> hosts01();
            case "02" -> hosts02();
            case "03" -> List.of(new HostKind(1, 40, 12, 58_829, 1_100), new HostKind(2, 40, 12, 58_829, 1_100));
            default -> throw new IllegalArgumentException("recorded clusters are 01, 02 and 03, not " + number);
        };
    }

    private static List<HostKind> hosts01() {
        List<HostKind> kinds = new ArrayList<>();
        for (int rack = 0; rack < 16; rack++) {
            double cpuPercent = rack < 12 ? 3_600 : rack < 14 ? 2_400 : 1_200;
            double memoryMb = rack < 12 ? 178_000 : rack < 14 ? 118_100 : 42_480;
            kinds.add(new HostKind(rack, 41, 50, memoryMb, cpuPercent));
            kinds.add(new HostKind(rack, 41, 50, memoryMb, cpuPercent - 100));
        }
        return kinds;
    }

    private static List<HostKind> hosts02() {
        return List.of(
            new HostKind(1, 78, 12, 42_461, 1_100),
            new HostKind(2, 146, 36, 181_362, 3_500),
            new HostKind(3, 18, 36, 181_362, 3_500),
            new HostKind(4, 120, 36, 181_362, 3_500),
            new HostKind(5, 24, 36, 181_362, 3_500),
            new HostKind(5, 16, 48, 177_748, 4_700),
            new HostKind(6, 12, 18, 88_305, 1_800),
            new HostKind(6, 368, 36, 181_205, 3_500),
            new HostKind(7, 62, 48, 177_748, 4_700),
            new HostKind(8, 50, 36, 181_348, 3_500),
            new HostKind(8, 64, 48, 177_748, 4_700),
            new HostKind(9, 74, 48, 177_748, 4_700),
            new HostKind(10, 74, 48, 177_748, 4_700),
            new HostKind(11, 10, 48, 177_748, 4_700),
            new HostKind(12, 78, 24, 120_688, 2_300),
            new HostKind(13, 150, 48, 177_748, 4_700),
            new HostKind(14, 76, 36, 181_362, 3_500),
            new HostKind(15, 38, 48, 174_431, 4_700),
            new HostKind(16, 78, 36, 181_375, 3_500),
            new HostKind(17, 72, 36, 181_362, 3_500),
            new HostKind(18, 80, 36, 181_362, 3_500),
            new HostKind(19, 76, 36, 181_362, 3_500),
            new HostKind(20, 78, 24, 120_696, 2_300),
            new HostKind(21, 80, 24, 120_696, 2_300));
    }
}
