package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.junit.jupiter.api.Test;

/** Runs of the fallback scheduler that cannot begin, and runs that never end; the clock stands still unless a test moves it. */
class FallbackThreadsTest {
    private static final long AMPLE_MS = 60_000;
    private static final FallbackScheduler.Outcome LATE = new FallbackScheduler.Outcome(Map.of(),
        "ScriptedScheduler is still at work, its placement is used in a later round");

    private final List<String> warnings = new ArrayList<>();
    private final AtomicLong clockNs = new AtomicLong();
    private final AtomicReference<Threads> threads = new AtomicReference<>(Threads.DAEMONS);
    private final FallbackScheduler fallback = new FallbackScheduler(
        new StateChangeLog((message, cause) -> warnings.add(message)), (work, name) -> threads.get().make(work, name), clockNs::get);
    private final Fixture fixture = new Fixture().supervisor("a", 3).topology("new", 2, 0);

    private FallbackScheduler.Outcome propose(long waitMs) throws InterruptedException {
        return fallback.propose(fixture.cluster(), List.of(fixture.details("new")), waitMs);
    }

    private FallbackScheduler.Outcome propose() throws InterruptedException {
        return propose(AMPLE_MS);
    }

    private void script(Runnable first) {
        ScriptedScheduler.script(first);
        fallback.prepare(ScriptedScheduler.class.getName(), Fixture.conf(), new StormMetricsRegistry());
    }

    @Test
    void whereNoThreadCanBeStartedNothingIsProposedAndALaterRoundTriesAgain() throws InterruptedException {
        threads.set(Fixture.NO_THREADS);
        for (int round = 0; round < 2; round++) {
            assertEquals(new FallbackScheduler.Outcome(Map.of(), "DefaultScheduler could not be started"), propose());
        }
        Cluster cluster = fixture.cluster();
        fallback.scheduleAll(fixture.topologies(), cluster);
        assertEquals(Fixture.state(fixture.cluster()), Fixture.state(cluster));
        assertEquals(List.of("Stormplace's fallback scheduler DefaultScheduler could not be started, what is unassigned stays so: "
            + "OutOfMemoryError: unable to create native thread"), warnings);
        threads.set(Threads.DAEMONS);
        assertEquals(Set.of("new"), propose().proposals().keySet());
        assertEquals("Stormplace's fallback scheduler DefaultScheduler works.", warnings.get(1));
    }

    private void pass(long minutes) {
        clockNs.addAndGet(TimeUnit.MINUTES.toNanos(minutes));
    }

    @Test
    void aRunWithoutEndIsInterruptedAndTheSchedulerIsAskedAgainWhenItHasEnded() throws InterruptedException {
        ScriptedScheduler.Gate gate = new ScriptedScheduler.Gate();
        script(gate);
        assertEquals(LATE, propose(1));
        gate.awaitRun();
        pass(FallbackScheduler.MOST_MINUTES);
        clockNs.decrementAndGet();
        assertEquals(LATE, propose());
        clockNs.incrementAndGet();
        ScriptedScheduler.script(() -> { });
        assertEquals(Set.of("new"), propose().proposals().keySet());
        assertEquals(List.of("Stormplace's fallback scheduler ScriptedScheduler was at work for 15 minutes and is interrupted; "
            + "DefaultScheduler takes its place until it ends.",
            "Stormplace's fallback scheduler " + fallback.name() + " works."), warnings);
        gate.awaitEnd();
        assertEquals(Set.of("new"), propose().proposals().keySet());
        assertEquals("ScriptedScheduler", fallback.name());
        assertFalse(Thread.interrupted());
    }

    /** Begins a run that hangs whatever is done to its thread, like a deadlock; returns how many there were. */
    private AtomicLong hangUntil(CountDownLatch released) throws InterruptedException {
        AtomicLong runs = new AtomicLong();
        CountDownLatch begun = new CountDownLatch(1);
        script(() -> {
            runs.incrementAndGet();
            begun.countDown();
            awaitUninterrupted(released);
        });
        assertEquals(LATE, propose(1));
        begun.await();
        return runs;
    }

    private static void awaitUninterrupted(CountDownLatch released) {
        boolean done = false;
        while (!done) {
            try {
                released.await();
                done = true;
            } catch (InterruptedException e) {
                // As deaf as a thread that waits for a lock.
            }
        }
    }

    @Test
    void aRunThatHeedsNoInterruptIsReplacedByStormsDefaultSchedulerAndNoSecondOneBegun() throws InterruptedException {
        CountDownLatch released = new CountDownLatch(1);
        AtomicLong runs = hangUntil(released);
        for (int round = 0; round < 3; round++) {
            pass(FallbackScheduler.MOST_MINUTES);
            assertEquals(Set.of("new"), propose().proposals().keySet());
            assertEquals("DefaultScheduler", fallback.name());
        }
        assertEquals(1, runs.get());
        assertEquals(2, warnings.size(), warnings.toString());
        released.countDown();
    }

    @Test
    void besidesOneThatIsAbandonedOneRunAtMostIsUnderWay() throws InterruptedException {
        CountDownLatch released = new CountDownLatch(1);
        hangUntil(released);
        List<Thread> made = new ArrayList<>();
        threads.set((work, name) -> {
            // The substitute hangs as well.
            made.add(Threads.DAEMONS.make(() -> {
                awaitUninterrupted(released);
                work.run();
            }, name));
            return made.get(made.size() - 1);
        });
        for (int round = 0; round < 4; round++) {
            pass(FallbackScheduler.MOST_MINUTES);
            assertEquals(Map.of(), propose(1).proposals());
        }
        assertEquals(1, made.size());
        released.countDown();
    }
}
