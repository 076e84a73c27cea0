package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
    private static final long DEADLINE_MS = 2_000;
    private final CircuitBreaker breaker = new CircuitBreaker(DEADLINE_MS);
    private final DaemonFault slow = new DaemonFault(DaemonFault.Kind.SLOW, "slow", null);

    private static long ns(long ms) {
        return TimeUnit.MILLISECONDS.toNanos(ms);
    }

    @Test
    void aCheapFailureLetsTheNextRoundAskAgain() throws DaemonFault {
        breaker.failed(new DaemonFault(DaemonFault.Kind.ABSENT, "refused", null), 0, ns(5));
        breaker.admit(ns(6));
        assertTrue(breaker.suspicious());
    }

    @Test
    void aCostlyFailureKeepsRoundsFromAskingUntilTheBackOffIsOver() {
        breaker.failed(slow, 0, ns(DEADLINE_MS));
        DaemonFault fault = assertThrows(DaemonFault.class, () -> breaker.admit(ns(DEADLINE_MS + 9_999)));
        assertSame(slow, fault);
        assertDoesNotThrow(() -> breaker.admit(ns(DEADLINE_MS + 10_000)));
    }

    @Test
    void theBackOffDoublesUpToOneMinute() {
        long now = 0;
        for (long expectedMs : new long[] {10_000, 20_000, 40_000, 60_000, 60_000}) {
            breaker.failed(slow, now, now + ns(DEADLINE_MS));
            now += ns(DEADLINE_MS);
            long over = now + ns(expectedMs);
            assertThrows(DaemonFault.class, () -> breaker.admit(over - 1));
            assertDoesNotThrow(() -> breaker.admit(over));
            now = over;
        }
    }

    @Test
    void anAnswerForgetsAllFailures() {
        breaker.failed(slow, 0, ns(DEADLINE_MS));
        breaker.succeeded();
        assertFalse(breaker.suspicious());
        assertDoesNotThrow(() -> breaker.admit(ns(DEADLINE_MS)));
        breaker.failed(slow, 0, ns(DEADLINE_MS));
        assertDoesNotThrow(() -> breaker.admit(ns(DEADLINE_MS + 10_000)));
    }
}
