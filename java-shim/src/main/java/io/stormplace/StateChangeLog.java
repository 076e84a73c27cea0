package io.stormplace;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says a thing once: one warning when a subject's state changes, nothing while it stays the same.
 *
 * <p>Nimbus runs a round every few seconds; a fault that lasts must not fill its log. Safe for use by several threads.
 */
public final class StateChangeLog {
    /** What is watched. */
    public enum Subject {
        /** The placement daemon, as seen by the rounds. */
        DAEMON,
        /** The ZooKeeper connection that delivers readings. */
        READINGS,
        /** The ZooKeeper connection that delivers statuses of topologies. */
        STATUSES,
        /** The fallback scheduler. */
        FALLBACK,
        /** Whether every topology can be described to the daemon, and in time. */
        SNAPSHOT,
        /** The shim's own work on a plan: describing the cluster, checking the answer. */
        PLAN,
        /** The rest of the shim's own work in a round. */
        ROUND
    }

    /** The state in which everything works; first reports of it are no news. */
    public static final String GOOD = "good";

    private static final Logger LOG = LoggerFactory.getLogger(StateChangeLog.class);

    private final Map<Subject, String> states = new ConcurrentHashMap<>();
    private final BiConsumer<String, Throwable> warn;

    /** Creates a log that writes warnings to Nimbus' log. */
    public StateChangeLog() {
        this((message, cause) -> LOG.warn(message, cause));
    }

    StateChangeLog(BiConsumer<String, Throwable> warn) {
        this.warn = warn;
    }

    /**
     * Reports that a subject works.
     *
     * @param subject what works
     * @param message the sentence to log if it did not work before
     */
    public void good(Subject subject, String message) {
        String before = states.put(subject, GOOD);
        if (before == null) {
            LOG.info("{}", message);
        } else if (!before.equals(GOOD)) {
            warn.accept(message, null);
        }
    }

    /**
     * Reports that a subject does not work.
     *
     * @param subject what does not work
     * @param state   name of the fault; a repeated one is not logged again
     * @param message the sentence to log
     */
    public void bad(Subject subject, String state, String message) {
        bad(subject, state, message, null);
    }

    /**
     * Reports that a subject does not work, with the trace of what was caught.
     *
     * @param subject what does not work
     * @param state   name of the fault; a repeated one is not logged again
     * @param message the sentence to log
     * @param cause   what was caught, or null
     */
    public void bad(Subject subject, String state, String message, Throwable cause) {
        String before = states.put(subject, state);
        if (!state.equals(before)) {
            warn.accept(message, cause);
        }
    }
}
