package io.stormplace;

import java.nio.channels.ClosedByInterruptException;

/** Finds interrupts that were wrapped into other exceptions. */
final class Interrupts {
    /** Longer chains are broken or circular. */
    private static final int MAX_DEPTH = 50;

    private Interrupts() {
    }

    /**
     * Returns whether an interrupt is at the bottom of a throwable.
     *
     * <p>Nimbus' timer ignores such exceptions and never runs another round, so callers treat them apart from all others.
     *
     * @param throwable what was caught
     * @return true if it, or one of its causes, stands for an interrupt
     */
    static boolean caused(Throwable throwable) {
        Throwable current = throwable;
        for (int depth = 0; current != null && depth < MAX_DEPTH; depth++) {
            if (current instanceof InterruptedException || current instanceof ClosedByInterruptException) {
                return true;
            }
            current = current.getCause();
        }
        return false;
    }
}
