package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.stormplace.wire.Topology;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.junit.jupiter.api.Test;

/** A topology whose assignment is hidden for a round is described with its last slots. */
class LastAssignmentsTest {
    private final LastAssignments last = new LastAssignments();
    private final SnapshotBuilder snapshots = new SnapshotBuilder(last);

    @Test
    void aHiddenAssignmentIsDescribed() {
        remember(running());

        Topology hidden = described(hosts().topology("t", 1, 0));

        assertEquals(List.of(0, 0, 1, 1), hidden.getLast_supervisor());
        assertEquals(List.of(6700, 6700, 6701, 6701), hidden.getLast_port());
        assertEquals(List.of(), hidden.getLeft_supervisor());
    }

    @Test
    void slotsOfOthersAreLeft() {
        remember(hosts().supervisor("z", 2).topology("t", 1, 4).placed("t", "a", 6700, 1, 2, 3, 4).placed("t", "b", 6701, 5, 6)
            .placed("t", "b", 6700, 7).placed("t", "z", 6700, 8));

        Topology hidden = described(hosts().topology("t", 1, 0));

        assertEquals(List.of(0, 0, 0, 0), hidden.getLast_supervisor());
        assertEquals(List.of(1, 1), hidden.getLeft_supervisor(), "z is gone");
        assertEquals(List.of(6700, 6701), hidden.getLeft_port());
    }

    @Test
    void whatRunsCompletelyHasNoLastSlots() {
        remember(running());

        assertNull(described(running()).getLast_supervisor());
        assertNull(described(running()).getLeft_supervisor());
    }

    @Test
    void theFirstRoundKnowsNothing() {
        assertNull(described(hosts().topology("t", 1, 0)).getLast_supervisor());
    }

    @Test
    void aTopologyThatStaysHiddenIsNotForgotten() {
        remember(running());
        remember(hosts().topology("t", 1, 0));

        assertEquals(List.of(0, 0, 1, 1), described(hosts().topology("t", 1, 0)).getLast_supervisor());
    }

    @Test
    void whereAWorkerDiedIsForgottenAtOnce() {
        remember(running());
        Fixture halved = hosts().topology("t", 1, 0).placed("t", "b", 6701, 3, 4);
        remember(halved);

        assertEquals(List.of(-1, -1, 1, 1), described(halved).getLast_supervisor());
        remember(hosts().topology("t", 1, 0));
        assertEquals(List.of(-1, -1, 1, 1), described(hosts().topology("t", 1, 0)).getLast_supervisor());
        assertEquals(Map.of(), workers(hosts().topology("t", 1, 0)));
    }

    @Test
    void aTopologyThatIsGoneIsForgotten() {
        remember(running());
        remember(hosts().topology("u", 1, 0));

        assertNull(described(hosts().topology("t", 1, 0)).getLast_supervisor());
    }

    @Test
    void anotherNumberOfWorkersMeansANewPlacement() {
        remember(running());

        Topology anew = described(hosts().topology("t", 2, 0));

        assertNull(anew.getLast_supervisor());
        assertNull(anew.getLeft_supervisor());
    }

    @Test
    void executorsAndSupervisorsThatAreGoneAreLeftOut() {
        remember(hosts().supervisor("z", 2).topology("t", 1, 0).placed("t", "z", 6700, 1).placed("t", "b", 6701, 2, 3));

        Topology hidden = described(hosts().topology("t", 1, 0));

        assertEquals(List.of(-1, 1, 1, -1), hidden.getLast_supervisor());
        assertEquals(List.of(-1, 6701, 6701, -1), hidden.getLast_port());
    }

    @Test
    void aTopologyGoesBackAsAWholeOrNotAtAll() {
        Fixture hidden = hosts().topology("t", 1, 0);
        assertEquals(Map.of(), workers(hidden));
        remember(running());

        assertEquals(SlotMap.of(running().cluster(), "t"), workers(hidden));
        assertEquals(Map.of(), workers(hosts().topology("t", 2, 0)), "another number of workers");
        assertEquals(Map.of(), workers(hosts().topology("t", 1, 1)), "another executor");
        assertEquals(Map.of(), workers(new Fixture().supervisor("a", 2).topology("t", 1, 0)), "a supervisor is gone");
        assertEquals(Map.of(), workers(hosts().topology("t", 1, 0).topology("u", 1, 0).placed("u", "a", 6700, 1, 2, 3, 4)), "a slot is taken");
    }

    private static Fixture hosts() {
        return new Fixture().supervisor("a", 2).supervisor("b", 2);
    }

    private static Fixture running() {
        return hosts().topology("t", 1, 0).placed("t", "a", 6700, 1, 2).placed("t", "b", 6701, 3, 4);
    }

    private void remember(Fixture fixture) {
        last.remember(fixture.topologies(), fixture.cluster());
    }

    private Map<WorkerSlot, Set<ExecutorDetails>> workers(Fixture fixture) {
        return last.workers(fixture.topologies().getById("t"), fixture.cluster());
    }

    private Topology described(Fixture fixture) {
        ReadingsCache.View nothing = new ReadingsCache.View(List.of(), List.of(), true);
        return snapshots.build("r", fixture.topologies(), fixture.cluster(), nothing, () -> false).request()
            .getTopologies().get(0);
    }
}
