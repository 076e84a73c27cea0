package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.stormplace.wire.Decision;
import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.TopologyPlan;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.WorkerSlot;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Supervisors by index: 0 = bad (blacklisted host), 1 = gone (vanished), 2 = s1, 3 = s2. */
class PlanValidatorTest {
    private final Fixture fixture = new Fixture().supervisor("bad", 2).supervisor("s1", 2).supervisor("s2", 2)
        .topology("new", 2, 0).topology("old", 2, 0).topology("other", 1, 0)
        .placed("old", "gone", 6700, 1, 2).placed("old", "s1", 6700, 3, 4)
        .placed("other", "s2", 6700, 1, 2, 3, 4);
    private final Cluster cluster = fixture.cluster();
    private final Snapshot snapshot;

    PlanValidatorTest() {
        cluster.blacklistHost("host-bad");
        snapshot = new SnapshotBuilder(new LastAssignments()).build("round", fixture.topologies(), cluster,
            new ReadingsCache.View(List.of(), List.of(), true), () -> false);
    }

    private PlanValidator.Checked check(TopologyPlan... plans) throws DaemonFault {
        return PlanValidator.check(snapshot, TestDaemon.response(snapshot.request(), plans), cluster);
    }

    private static TopologyPlan plan(List<Integer> supervisors, List<Integer> ports) {
        return TestDaemon.assign("new", supervisors, ports);
    }

    @Test
    void aSoundPlanIsAcceptedAsWorkers() throws DaemonFault {
        Verdict verdict = check(plan(List.of(2, 2, 3, 3), List.of(6701, 6701, 6701, 6701))).verdicts().get("new");
        assertEquals(new Verdict(Verdict.Outcome.ASSIGN, "placed by the test", Map.of(
            Fixture.slot("s1", 6701), Fixture.executors(1, 2), Fixture.slot("s2", 6701), Fixture.executors(3, 4))),
            verdict);
    }

    @Test
    void executorsOfOneSlotAreOneWorkerInWhateverOrderTheyCome() throws DaemonFault {
        Verdict verdict = check(plan(List.of(2, 3, 3, 2), List.of(6701, 6701, 6701, 6701))).verdicts().get("new");
        assertEquals(Map.of(Fixture.slot("s1", 6701), Fixture.executors(1, 4), Fixture.slot("s2", 6701), Fixture.executors(2, 3)),
            verdict.slots());
    }

    static List<Arguments> faults() {
        return List.of(
            fault("fewer supervisors than executors", List.of(2, 2, 2), List.of(6701, 6701, 6701, 6701),
                "the plan has 3 supervisors and 4 ports for 4 executors"),
            fault("more of both than executors", List.of(2, 2, 2, 2, 2), List.of(6701, 6701, 6701, 6701, 6701),
                "the plan has 5 supervisors and 5 ports for 4 executors"),
            fault("fewer ports than executors", List.of(2, 2, 2, 2), List.of(6701),
                "the plan has 4 supervisors and 1 ports for 4 executors"),
            fault("an executor without slot", List.of(2, -1, 2, 2), List.of(6701, -1, 6701, 6701),
                "executor [2, 2] is given no slot"),
            fault("an index beyond the end", List.of(2, 2, 2, 4), List.of(6701, 6701, 6701, 6701),
                "supervisor index 4 does not exist"),
            fault("a negative index", List.of(2, 2, 2, -2), List.of(6701, 6701, 6701, 6701),
                "supervisor index -2 does not exist"),
            fault("a vanished supervisor", List.of(1, 2, 2, 2), List.of(6701, 6701, 6701, 6701),
                "supervisor gone is gone"),
            fault("a blacklisted host", List.of(0, 2, 2, 2), List.of(6700, 6701, 6701, 6701),
                "host host-bad is blacklisted"),
            fault("a port that is not offered", List.of(2, 2, 2, 2), List.of(6701, 6701, 6701, 6777),
                "supervisor s1 does not offer port 6777"),
            fault("an occupied slot", List.of(3, 2, 2, 2), List.of(6700, 6701, 6701, 6701),
                "slot s2:6700 is occupied by another topology"),
            fault("many faults", List.of(-1, -1, -1, -1), List.of(6701, 6701, 6701, 6701),
                "executor [1, 1] is given no slot; executor [2, 2] is given no slot; executor [3, 3] is given no slot;"
                    + " and 1 more faults"));
    }

    private static Arguments fault(String name, List<Integer> supervisors, List<Integer> ports, String reason) {
        return Arguments.of(Named.of(name, supervisors), ports, reason);
    }

    @ParameterizedTest
    @MethodSource("faults")
    void aFaultyPlanIsRefusedWithTheReasonAndTheOthersAreNot(List<Integer> supervisors, List<Integer> ports,
                                                              String reason) throws DaemonFault {
        Map<String, Verdict> verdicts = check(plan(supervisors, ports),
            TestDaemon.decide("other", Decision.KEEP, "fine")).verdicts();
        assertEquals(Verdict.refused(reason), verdicts.get("new"));
        assertEquals(Verdict.Outcome.KEEP, verdicts.get("other").outcome());
    }

    @Test
    void twoPlansForATopologyWouldPlaceItsExecutorsTwice() throws DaemonFault {
        TopologyPlan plan = plan(List.of(2, 2, 2, 2), List.of(6701, 6701, 6701, 6701));
        assertEquals(Verdict.refused("the daemon's answer holds 2 plans for it"),
            check(plan, new TopologyPlan(plan)).verdicts().get("new"));
    }

    @Test
    void twoTopologiesOnOneSlotAreBothRefused() throws DaemonFault {
        Map<String, Verdict> verdicts = check(plan(List.of(2, 2, 3, 3), List.of(6701, 6701, 6701, 6701)),
            TestDaemon.assign("other", List.of(3, 3, 3, 3), List.of(6701, 6701, 6701, 6701))).verdicts();
        assertEquals(Verdict.refused("slot s2:6701 is given to several topologies"), verdicts.get("new"));
        assertEquals(Verdict.refused("slot s2:6701 is given to several topologies"), verdicts.get("other"));
    }

    @Test
    void topologiesMeetOnASlotThatOneOfThemAlternatesWithAnother() throws DaemonFault {
        Map<String, Verdict> verdicts = check(plan(List.of(2, 3, 2, 3), List.of(6701, 6701, 6701, 6701)),
            TestDaemon.assign("other", List.of(3, 3, 3, 3), List.of(6700, 6701, 6701, 6700))).verdicts();
        assertEquals(Verdict.refused("slot s2:6701 is given to several topologies"), verdicts.get("new"));
        assertEquals(Verdict.refused("slot s2:6701 is given to several topologies"), verdicts.get("other"));
    }

    @Test
    void aTopologyThatTheAnswerLeavesOutIsRefused() throws DaemonFault {
        assertEquals(Verdict.refused("the daemon's answer leaves it out"), check().verdicts().get("new"));
    }

    @Test
    void aTopologyThatIsGoneOrUnknownIsAStray() throws DaemonFault {
        PlanValidator.Checked checked = check(TestDaemon.decide("killed", Decision.KEEP, ""));
        assertEquals(List.of("killed"), checked.strays());
        assertEquals(snapshot.executors().keySet(), checked.verdicts().keySet());
    }

    @Test
    void anUnchangedWorkerMayStayOnAVanishedSupervisorButNotAChangedOne() throws DaemonFault {
        Map<String, Verdict> same = check(TestDaemon.assign("old", List.of(1, 1, 3, 3),
            List.of(6700, 6700, 6701, 6701))).verdicts();
        assertEquals(Verdict.Outcome.ASSIGN, same.get("old").outcome(), same.get("old").status());
        Map<String, Verdict> changed = check(TestDaemon.assign("old", List.of(1, 3, 3, 3),
            List.of(6700, 6701, 6701, 6701))).verdicts();
        assertEquals(Verdict.refused("supervisor gone is gone"), changed.get("old"));
    }

    @Test
    void aTopologyMayRearrangeItsOwnSlots() throws DaemonFault {
        Verdict verdict = check(TestDaemon.assign("old", List.of(2, 2, 2, 2), List.of(6700, 6700, 6700, 6700)))
            .verdicts().get("old");
        assertEquals(Map.of(Fixture.slot("s1", 6700), Fixture.executors(1, 2, 3, 4)), verdict.slots(), verdict.status());
    }

    @Test
    void theUsedSlotsOfATopologyAreNotCollectedForEachOfItsSlots() throws DaemonFault {
        AtomicInteger collected = new AtomicInteger();
        Cluster counting = new Cluster(cluster) {
            @Override
            public Collection<WorkerSlot> getUsedSlotsByTopologyId(String id) {
                collected.incrementAndGet();
                return super.getUsedSlotsByTopologyId(id);
            }
        };
        PlanValidator.check(snapshot, TestDaemon.response(snapshot.request(),
            TestDaemon.assign("old", List.of(2, 2, 3, 3), List.of(6700, 6701, 6701, 6701))), counting);
        assertEquals(0, collected.get());
    }

    @Test
    void keepingATopologyThatIsNotFullyPlacedIsRefused() throws DaemonFault {
        Map<String, Verdict> verdicts = check(TestDaemon.decide("new", Decision.KEEP, "stay"),
            TestDaemon.decide("old", Decision.KEEP, "stay")).verdicts();
        assertEquals(Verdict.refused("the plan keeps it as it is although 4 executors are unassigned"),
            verdicts.get("new"));
        assertEquals(new Verdict(Verdict.Outcome.KEEP, "stay", Map.of()), verdicts.get("old"));
    }

    @Test
    void anUnplaceableTopologyKeepsTheDaemonsReasonOnOneLine() throws DaemonFault {
        assertEquals(new Verdict(Verdict.Outcome.UNPLACEABLE, "no room for count", Map.of()),
            check(TestDaemon.decide("new", Decision.UNPLACEABLE, "no room\nfor\tcount")).verdicts().get("new"));
    }

    static List<Arguments> wholeAnswers() {
        return List.of(
            wrong("another version", DaemonFault.Kind.REFUSED, "the daemon speaks version 2, this shim speaks version 1",
                (version, round) -> new PlanResponse(version + 1, round, List.of())),
            wrong("another round", DaemonFault.Kind.NONSENSE, "the daemon answered for another round",
                (version, round) -> new PlanResponse(version, round + "x", List.of())));
    }

    private static Arguments wrong(String name, DaemonFault.Kind kind, String message,
                                   BiFunction<Integer, String, PlanResponse> answer) {
        return Arguments.of(Named.of(name, answer), kind, message);
    }

    @ParameterizedTest
    @MethodSource("wholeAnswers")
    void anAnswerOfAnotherVersionOrRoundIsNoAnswer(BiFunction<Integer, String, PlanResponse> answer,
                                                   DaemonFault.Kind kind, String message) {
        DaemonFault fault = assertThrows(DaemonFault.class,
            () -> PlanValidator.check(snapshot, answer.apply(1, "round"), cluster));
        assertEquals(kind, fault.kind());
        assertEquals(message, fault.getMessage());
    }
}
