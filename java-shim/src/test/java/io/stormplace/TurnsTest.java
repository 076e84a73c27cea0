package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.wire.Decision;
import io.stormplace.wire.TopologyPlan;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.storm.Config;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.TopologyDetails;
import org.junit.jupiter.api.Test;

class TurnsTest {
    private static final int MANY = 2 * Turns.MOST_IDLE + 500;
    private static final Map<String, Object> USUAL = Fixture.conf();

    private final LastAssignments last = new LastAssignments();
    private final Turns turns = new Turns(last);

    @Test
    void whatLacksASlotComesFirstAndWhatRunsCompletelyLast() {
        Fixture fixture = new Fixture().supervisor("a", 9).topology("t1", 1, 0).topology("t2", 1, 0).topology("t3", 1, 0)
            .placed("t1", "a", 6700, 1, 2, 3, 4).placed("t3", "a", 6702, 1, 2, 3, 99);
        Turns.Turn turn = turns.next(fixture.topologies(), fixture.cluster());
        assertEquals(List.of("t3", "t2", "t1"), ids(turn));
        assertTrue(turn.waiting().isEmpty());
    }

    @Test
    void everyTopologyWithoutAWorkerHasItsTurnThoughNoneGetsOne() {
        Fixture fixture = many(MANY);
        Set<String> described = new HashSet<>();
        for (int round = 0; round < 6; round++) {
            Turns.Turn turn = turns.next(fixture.topologies(), fixture.cluster());
            assertEquals(Turns.MOST_IDLE, turn.described().size());
            assertEquals(MANY - Turns.MOST_IDLE, turn.waiting().size());
            described.addAll(ids(turn));
        }
        assertEquals(MANY, described.size());
    }

    @Test
    void eachIsDescribedInTwoRoundsInTurn() {
        Fixture fixture = many(MANY);
        Cluster cluster = fixture.cluster();
        List<String> first = ids(turns.next(fixture.topologies(), cluster));
        assertTrue(first.containsAll(ids(turns.next(fixture.topologies(), cluster))));
        List<String> third = ids(turns.next(fixture.topologies(), cluster));
        assertTrue(third.stream().noneMatch(first::contains));
    }

    @Test
    void thoseOfHigherPriorityAreFirstAndWithoutOneLast() {
        Fixture fixture = many(MANY).topology(single("urgent", 0, Map.of(Config.TOPOLOGY_PRIORITY, 5)))
            .topology(single("odd", 0, Map.of()));
        Turns.Turn turn = turns.next(fixture.topologies(), fixture.cluster());
        assertEquals("urgent", ids(turn).get(0));
        assertEquals("odd", turn.waiting().get(turn.waiting().size() - 1));
    }

    @Test
    void ofTheSamePriorityThoseSubmittedFirstAreFirst() {
        Fixture fixture = many(MANY).topology(single("z", 0, USUAL));
        assertEquals("z", ids(turns.next(fixture.topologies(), fixture.cluster())).get(0));
    }

    @Test
    void whatARebalanceHidesDoesNotWait() {
        Fixture fixture = many(MANY);
        turns.next(fixture.topologies(), fixture.cluster());
        fixture.supervisor("a", 1).topology(single("z", 2, USUAL));
        Cluster hiding = fixture.cluster();
        fixture.placed("z", "a", 6700, 1);
        last.remember(fixture.topologies(), fixture.cluster());
        assertEquals("z", ids(turns.next(fixture.topologies(), hiding)).get(0));
    }

    @Test
    void whatRunsWaitsForNoTurn() {
        Fixture fixture = many(MANY).supervisor("a", 2).topology(single("whole", 1, USUAL)).topology(single("half", 1, USUAL)).placed("whole", "a", 6700, 1)
            .placed("half", "a", 6701, 7);
        Turns.Turn turn = turns.next(fixture.topologies(), fixture.cluster());
        assertEquals("half", ids(turn).get(0));
        assertEquals("whole", ids(turn).get(Turns.MOST_IDLE + 1));
        assertEquals(MANY - Turns.MOST_IDLE, turn.waiting().size());
    }

    @Test
    void whatWaitsSaysSoAndIsNotGivenToTheFallback() throws Exception {
        Fixture fixture = many(Turns.MOST_IDLE + 1);
        AtomicInteger runs = new AtomicInteger();
        ScriptedScheduler.script(runs::incrementAndGet);
        PlacementScheduler scheduler = new PlacementScheduler();
        try (TestDaemon daemon = new TestDaemon(request -> TestDaemon.response(request, request.getTopologies().stream()
            .map(topology -> TestDaemon.decide(topology.getId(), Decision.UNPLACEABLE, "no room")).toArray(TopologyPlan[]::new)))) {
            scheduler.prepare(Fixture.conf(ShimSettings.DAEMON_PORT, daemon.port(), ShimSettings.DAEMON_DEADLINE_MS, 20_000,
                ShimSettings.FALLBACK_SCHEDULER, ScriptedScheduler.class.getName()), new StormMetricsRegistry());
            Cluster cluster = fixture.cluster();
            scheduler.schedule(fixture.topologies(), cluster);
            assertEquals("no room", cluster.getStatus("t01999"));
            assertEquals(Turns.WAITING, cluster.getStatus("t02000"));
            assertEquals(0, runs.get());
        } finally {
            scheduler.cleanup();
        }
    }

    private static Fixture many(int number) {
        Fixture fixture = new Fixture();
        for (int i = 0; i < number; i++) {
            fixture.topology(single("t%05d".formatted(i), 1, USUAL));
        }
        return fixture;
    }

    /** A topology of one executor; its settings are shared, as reading Storm's defaults for each takes long. */
    private static TopologyDetails single(String id, int launched, Map<String, Object> conf) {
        return new TopologyDetails(id, conf, null, 1, Map.of(new ExecutorDetails(1, 1), "words"), launched, "owner");
    }

    private static List<String> ids(Turns.Turn turn) {
        return new ArrayList<>(turn.described().stream().map(TopologyDetails::getId).toList());
    }
}
