package io.stormplace;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.apache.storm.Config;

/**
 * Names the cluster to the daemon, which remembers the gains of each cluster apart.
 *
 * <p>All Nimbus hosts of a cluster, and no others, keep their state in one place of one ZooKeeper: that place is the name. It
 * stays the same when another Nimbus takes over.
 */
final class ClusterIdentity {
    private ClusterIdentity() {
    }

    /**
     * Returns the name.
     *
     * @param conf Nimbus' configuration
     * @return servers, port and root of Storm's ZooKeeper; if only loopback addresses lead there Nimbus' host too, as many hosts
     *     may have such a ZooKeeper
     */
    static String of(Map<String, Object> conf) {
        TreeSet<String> servers = new TreeSet<>();
        Object configured = conf.get(Config.STORM_ZOOKEEPER_SERVERS);
        Collection<?> listed = configured instanceof Collection<?> several ? several : List.of(String.valueOf(configured));
        for (Object server : listed) {
            servers.add(String.valueOf(server).toLowerCase(Locale.ROOT));
        }
        String name = String.join(",", servers) + ":" + conf.get(Config.STORM_ZOOKEEPER_PORT)
            + conf.get(Config.STORM_ZOOKEEPER_ROOT);
        return servers.stream().allMatch(ClusterIdentity::isLoopback) ? name + "@" + localHost(conf) : name;
    }

    private static boolean isLoopback(String server) {
        return server.equals("localhost") || server.startsWith("127.") || server.equals("::1") || server.equals("[::1]");
    }

    private static String localHost(Map<String, Object> conf) {
        Object host = conf.get(Config.STORM_LOCAL_HOSTNAME);
        if (host != null) {
            return host.toString();
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }
}
