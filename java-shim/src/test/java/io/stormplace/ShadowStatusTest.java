package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ShadowStatusTest {
    private final Verdict verdict = new Verdict(Verdict.Outcome.KEEP, "best by far", Map.of());

    @Test
    void theFallbacksWordsComeFirst() {
        assertEquals("Fully Scheduled Shadow plan: would keep: best by far",
            ShadowStatus.of("Fully Scheduled", verdict));
        assertEquals("Shadow plan: would keep: best by far", ShadowStatus.of(null, verdict));
    }

    @Test
    void anEvictionIsNamed() {
        assertEquals("Shadow plan: would evict: for t", ShadowStatus.of(null, new Verdict(Verdict.Outcome.EVICT, "for t", Map.of())));
    }

    @Test
    void itDoesNotGrowFromRoundToRound() {
        String first = ShadowStatus.of("Fully Scheduled", verdict);
        assertEquals(first, ShadowStatus.of(first, verdict));
        String alone = ShadowStatus.of(null, verdict);
        assertEquals(alone, ShadowStatus.of(alone, verdict));
    }
}
