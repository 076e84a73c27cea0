package io.stormplace;

import java.util.concurrent.TimeUnit;

/**
 * Decides whether a round may ask the daemon after rounds that failed at a price.
 *
 * <p>A failure that cost little (connection refused) changes nothing: the next round asks again, so that a restarted daemon
 * takes over at once. A failure that cost a good part of the deadline opens the breaker for a back-off that doubles from
 * failure to failure; when it has passed, one round may try. Used by the scheduling thread alone, except for
 * {@link #isOpen()}.
 */
final class CircuitBreaker {
    private static final long MAX_BACK_OFF_MS = 60_000;
    private static final int BACK_OFF_DEADLINES = 5;
    private static final int COSTLY_FRACTION = 4;

    private final long firstBackOffNs;
    private final long costlyNs;
    private DaemonFault last;
    private long backOffNs;
    private long openUntilNs;
    private volatile boolean open;

    /**
     * Creates a closed breaker.
     *
     * @param deadlineMs the round's deadline; a quarter of it is a price, five of it are the first back-off
     */
    CircuitBreaker(long deadlineMs) {
        firstBackOffNs = TimeUnit.MILLISECONDS.toNanos(Math.min(MAX_BACK_OFF_MS, BACK_OFF_DEADLINES * deadlineMs));
        costlyNs = TimeUnit.MILLISECONDS.toNanos(deadlineMs) / COSTLY_FRACTION;
    }

    /**
     * Lets a round through or not.
     *
     * @param nowNs monotonic time
     * @throws DaemonFault the last fault, while the back-off lasts
     */
    void admit(long nowNs) throws DaemonFault {
        if (open && nowNs - openUntilNs < 0) {
            throw last;
        }
    }

    /**
     * Returns whether the last attempt failed, so that the next one should give up early on connecting.
     *
     * @return true after a failure
     */
    boolean suspicious() {
        return last != null;
    }

    /**
     * Returns whether the last attempt failed at a price, so that rounds wait for the back-off to pass.
     *
     * @return true from such a failure to the next attempt that ends otherwise
     */
    boolean isOpen() {
        return open;
    }

    /** Takes note of an answer. */
    void succeeded() {
        last = null;
        open = false;
        backOffNs = 0;
    }

    /**
     * Takes note of a failure.
     *
     * @param fault   what went wrong
     * @param startNs monotonic time when the attempt began
     * @param nowNs   monotonic time when it ended
     */
    void failed(DaemonFault fault, long startNs, long nowNs) {
        last = fault;
        if (nowNs - startNs < costlyNs) {
            open = false;
            return;
        }
        backOffNs = backOffNs == 0 ? firstBackOffNs
            : Math.min(2 * backOffNs, TimeUnit.MILLISECONDS.toNanos(MAX_BACK_OFF_MS));
        open = true;
        openUntilNs = nowNs + backOffNs;
    }
}
