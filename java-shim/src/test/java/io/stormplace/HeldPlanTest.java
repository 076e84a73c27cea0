package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.placementConstants;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A plan that changes nothing holds for the time that the daemon states, while nothing changes. */
class HeldPlanTest {
    private static final Map<String, Verdict> KEEPS = Map.of("t", new Verdict(Verdict.Outcome.KEEP, "kept", Map.of()));
    private static final long SECOND = 1_000_000_000L;

    private final HeldPlan held = new HeldPlan();

    @Test
    void itHoldsForTheStatedTime() {
        held.hold(7, answer(2_000), KEEPS, 0);

        assertEquals(KEEPS, held.verdicts(7, SECOND));
        assertNull(held.verdicts(7, 2 * SECOND));
    }

    @Test
    void itEndsWhenTheClusterChanges() {
        held.hold(7, answer(2_000), KEEPS, 0);

        assertNull(held.verdicts(8, SECOND));
    }

    @Test
    void itNeedsTheDaemonsWord() {
        held.hold(7, new PlanResponse(placementConstants.VERSION, "r", List.of()), KEEPS, 0);

        assertNull(held.verdicts(7, 0));
    }

    @Test
    void aPlanThatChangesSomethingIsNotHeld() {
        held.hold(7, answer(2_000), KEEPS, 0);
        held.hold(7, answer(2_000), Map.of("t", Verdict.refused("no answer")), 0);

        assertNull(held.verdicts(7, 0));
    }

    @Test
    void whatFoundNoRoomFindsNoneWhileNothingChanges() {
        Map<String, Verdict> refused = Map.of("t", new Verdict(Verdict.Outcome.UNPLACEABLE, "not placed", Map.of()));
        held.hold(7, answer(2_000), refused, 0);

        assertEquals(refused, held.verdicts(7, SECOND));
    }

    @Test
    void whatWaitsForItsTurnGetsItThoughNothingChanges() {
        held.hold(7, answer(2_000), Map.of("t", new Verdict(Verdict.Outcome.WAIT, Turns.WAITING, Map.of())), 0);

        assertNull(held.verdicts(7, 0));
    }

    @Test
    void atFirstNothingIsHeld() {
        assertNull(held.verdicts(0, 0));
    }

    private static PlanResponse answer(int holdMs) {
        PlanResponse response = new PlanResponse(placementConstants.VERSION, "r", List.of());
        response.setHold_ms(holdMs);
        return response;
    }
}
