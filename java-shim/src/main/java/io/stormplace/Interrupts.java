package io.stormplace;

import java.nio.channels.ClosedByInterruptException;
import java.util.Objects;
import java.util.stream.Stream;

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
        return Stream.iterate(throwable, Objects::nonNull, Throwable::getCause).limit(MAX_DEPTH)
            .anyMatch(each -> each instanceof InterruptedException || each instanceof ClosedByInterruptException);
    }
}
