package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.storm.StormTimer;
import org.apache.storm.metric.StormMetricsRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rounds on Storm's own timer, which ends for good when it finds its thread interrupted after a round. */
class NimbusTimerTest {
    private static final int ROUNDS = 3;

    private final PlacementScheduler scheduler = new PlacementScheduler(new StateChangeLog((message, cause) -> { }));
    private final Fixture fixture = new Fixture().supervisor("a", 2).topology("new", 2, 0);
    private final List<Throwable> killed = Collections.synchronizedList(new ArrayList<>());
    private final CompletableFuture<Thread> thread = new CompletableFuture<>();
    private final AtomicInteger rounds = new AtomicInteger();
    private final AtomicBoolean flag = new AtomicBoolean();

    private void prepare() throws IOException {
        scheduler.prepare(Fixture.conf(ShimSettings.DAEMON_PORT, Fixture.unusedPort(), ShimSettings.DAEMON_DEADLINE_MS,
            20_000, ShimSettings.FALLBACK_SCHEDULER, ScriptedScheduler.class.getName()), new StormMetricsRegistry());
    }

    /** Begins rounds on a timer whose thread ends with the last round at the latest. */
    private void begin() {
        new StormTimer("nimbus", (ignored, cause) -> killed.add(cause)).scheduleRecurringMs(0, 1, () -> {
            thread.complete(Thread.currentThread());
            scheduler.schedule(fixture.topologies(), fixture.cluster());
            flag.set(Thread.currentThread().isInterrupted());
            if (rounds.incrementAndGet() == ROUNDS) {
                Thread.currentThread().interrupt();
            }
        });
    }

    @AfterEach
    void cleanup() {
        scheduler.cleanup();
    }

    static List<Arguments> interrupts() {
        Runnable flagged = () -> Thread.currentThread().interrupt();
        Runnable wrapped = () -> {
            throw new RuntimeException(new InterruptedException());
        };
        return List.of(Arguments.of(Named.of("the flag alone", flagged)), Arguments.of(Named.of("an exception", wrapped)));
    }

    @ParameterizedTest
    @MethodSource("interrupts")
    void anInterruptInsideTheFallbackSchedulerDoesNotEndTheTimer(Runnable interrupt) throws Exception {
        ScriptedScheduler.script(interrupt);
        prepare();
        begin();
        thread.get().join();
        assertEquals(ROUNDS, rounds.get());
        assertEquals(List.of(), killed);
    }

    @Test
    void anInterruptOfTheTimerEndsTheRoundAndTheTimer() throws Exception {
        ScriptedScheduler.Gate gate = new ScriptedScheduler.Gate();
        ScriptedScheduler.script(gate);
        prepare();
        begin();
        gate.awaitRun();
        thread.get().interrupt();
        thread.get().join();
        assertEquals(1, rounds.get());
        assertTrue(flag.get());
        assertEquals(List.of(), killed);
        gate.release();
    }
}
