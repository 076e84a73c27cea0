package io.stormplace;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The shim's own keys of storm.yaml.
 *
 * <p>A bad value never stops Nimbus: the default is used instead and {@link #faults()} names the key, the value and what
 * was expected.
 *
 * @param daemonHost        host name or address of the placement daemon
 * @param daemonPort        TCP port of the placement daemon, 1-65535
 * @param deadlineMs        time that a round may spend on snapshot and daemon, and as much again on the fallback, in ms
 * @param zookeeperRoot     absolute path of the znode that holds the readings
 * @param zookeeperAuth     absolute path of a file with {@code user:password}; empty for Storm's own login
 * @param fallbackScheduler class name of the scheduler that places topologies without workers when there is no usable plan
 * @param mode              whether plans are enacted or only shown
 * @param faults            one sentence for each unusable key or value, in the order of the keys
 */
public record ShimSettings(String daemonHost, int daemonPort, int deadlineMs, String zookeeperRoot,
                           String zookeeperAuth, String fallbackScheduler, Mode mode, List<String> faults) {

    /** What is done with a plan. */
    public enum Mode {
        /** The plan is applied. */
        ACTIVE,
        /** The plan is shown in the topologies' status lines; the fallback scheduler does the round. */
        SHADOW
    }

    /** Prefix of every key that the shim reads. */
    public static final String PREFIX = "stormplace.";
    /** Key of the daemon's host. */
    public static final String DAEMON_HOST = "stormplace.daemon.host";
    /** Key of the daemon's port. */
    public static final String DAEMON_PORT = "stormplace.daemon.port";
    /** Key of the round's deadline in ms. */
    public static final String DAEMON_DEADLINE_MS = "stormplace.daemon.deadline.ms";
    /** Key of the readings' root in ZooKeeper. */
    public static final String ZOOKEEPER_ROOT = "stormplace.zookeeper.root";
    /** Key of the file with the login with which readings are read. */
    public static final String ZOOKEEPER_AUTH = "stormplace.zookeeper.auth";
    /** Key of the fallback scheduler's class name. */
    public static final String FALLBACK_SCHEDULER = "stormplace.fallback.scheduler";
    /** Key of the mode. */
    public static final String MODE = "stormplace.mode";
    /** Storm's own default scheduler, the fallback unless another one is set. */
    public static final String DEFAULT_FALLBACK = "org.apache.storm.scheduler.DefaultScheduler";

    private static final Set<String> KEYS = Set.of(DAEMON_HOST, DAEMON_PORT, DAEMON_DEADLINE_MS, ZOOKEEPER_ROOT,
        ZOOKEEPER_AUTH, FALLBACK_SCHEDULER, MODE);
    private static final int DEFAULT_PORT = 7090;
    private static final int MAX_PORT = 65_535;
    private static final int DEFAULT_DEADLINE_MS = 2_000;
    private static final int MIN_DEADLINE_MS = 10;
    /** Nimbus' timer thread, and in a rebalance its submit lock, wait for the round: more would hurt every client. */
    private static final int MAX_DEADLINE_MS = 30_000;
    private static final Pattern FILE = Pattern.compile("/\\S.*");
    private static final Pattern ZNODE = Pattern.compile("(/[^/\\s]+)+");

    /**
     * Reads the settings.
     *
     * @param conf Nimbus' configuration; other keys are ignored
     * @return settings with a default in the place of every value that is absent or unusable
     */
    public static ShimSettings read(Map<String, Object> conf) {
        List<String> faults = new ArrayList<>();
        for (String key : new TreeSet<>(conf.keySet())) {
            if (key.startsWith(PREFIX) && !KEYS.contains(key)) {
                faults.add(key + " is not a key of this version; ignored");
            }
        }
        return new ShimSettings(
            text(conf, DAEMON_HOST, "127.0.0.1", Pattern.compile("\\S+"), "a host name or an address", faults),
            integer(conf, DAEMON_PORT, DEFAULT_PORT, 1, MAX_PORT, faults),
            integer(conf, DAEMON_DEADLINE_MS, DEFAULT_DEADLINE_MS, MIN_DEADLINE_MS, MAX_DEADLINE_MS, faults),
            text(conf, ZOOKEEPER_ROOT, "/stormplace", ZNODE, "an absolute znode path without a slash at its end", faults),
            login(conf, faults),
            text(conf, FALLBACK_SCHEDULER, DEFAULT_FALLBACK, Pattern.compile("[\\w.$]+"), "a class name", faults),
            text(conf, MODE, "active", Pattern.compile("active|shadow"), "active or shadow", faults).equals("shadow")
                ? Mode.SHADOW : Mode.ACTIVE,
            List.copyOf(faults));
    }

    /** Reads the file of the login; a bad value may be a password, so that it is not shown. */
    private static String login(Map<String, Object> conf, List<String> faults) {
        Object value = conf.get(ZOOKEEPER_AUTH);
        if (value == null) {
            return "";
        }
        if (value instanceof String string && FILE.matcher(string).matches()) {
            return string;
        }
        faults.add(ZOOKEEPER_AUTH + " has to be the absolute path of a file that holds the login, as Storm copies this key into "
            + "every topology's configuration; using Storm's own login");
        return "";
    }

    private static String text(Map<String, Object> conf, String key, String fallback, Pattern form, String expected,
                               List<String> faults) {
        Object value = conf.get(key);
        if (value == null) {
            return fallback;
        }
        if (value instanceof String string && form.matcher(string).matches()) {
            return string;
        }
        faults.add(fault(key, value, expected, fallback));
        return fallback;
    }

    private static int integer(Map<String, Object> conf, String key, int fallback, int least, int most,
                               List<String> faults) {
        Object value = conf.get(key);
        if (value == null) {
            return fallback;
        }
        if ((value instanceof Integer || value instanceof Long)
            && ((Number) value).longValue() >= least && ((Number) value).longValue() <= most) {
            return ((Number) value).intValue();
        }
        faults.add(fault(key, value, "a whole number from " + least + " to " + most, String.valueOf(fallback)));
        return fallback;
    }

    private static String fault(String key, Object value, String expected, String fallback) {
        return key + " is " + value + ", expected " + expected + "; using " + fallback;
    }
}
