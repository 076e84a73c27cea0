package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.Meter;
import com.codahale.metrics.Timer;
import io.stormplace.wire.Decision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.storm.metric.StormMetricsRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ShimMetricsTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final PlacementScheduler scheduler = new PlacementScheduler(new StateChangeLog((message, cause) -> { }));
    private final Fixture fixture = new Fixture().supervisor("a", 2).supervisor("b", 2)
        .topology("placed", 1, 0).placed("placed", "a", 6700, 1, 2, 3, 4).topology("new", 1, 0);
    private final ListedRegistry registry = new ListedRegistry();

    private void round(int port) {
        scheduler.prepare(Fixture.conf(ShimSettings.DAEMON_PORT, port, ShimSettings.DAEMON_DEADLINE_MS, 20_000), registry);
        scheduler.schedule(fixture.topologies(), fixture.cluster());
    }

    private static Map<String, Long> counts(long rounds, long withoutPlan, long refused, long fallback, long applied) {
        return Map.of("num-rounds", rounds, "num-rounds-without-plan", withoutPlan, "num-topologies-refused", refused,
            "num-fallback-rounds", fallback, "describing-duration-ms", rounds, "answering-duration-ms", rounds,
            "applying-duration-ms", applied);
    }

    @AfterEach
    void cleanup() {
        scheduler.cleanup();
    }

    @Test
    void aRoundWithoutADaemonCountsAsOneWithoutAPlanThatTheFallbackDid() throws IOException {
        round(Fixture.unusedPort());
        assertEquals(counts(1, 1, 0, 1, 1), registry.counts());
    }

    @Test
    void aRefusedTopologyIsCountedBesideTheOneThatIsPlaced() throws Exception {
        try (TestDaemon daemon = new TestDaemon(request -> TestDaemon.response(request,
                TestDaemon.onOneSlot(request, "placed", "nowhere", 6700), TestDaemon.onOneSlot(request, "new", "b", 6700)))) {
            round(daemon.port());
        }
        assertEquals(counts(1, 0, 1, 0, 1), registry.counts());
    }

    @Test
    void aRoundThatChangesNothingIsNeitherAppliedNorTheFallbacks() throws Exception {
        try (TestDaemon daemon = new TestDaemon(request -> TestDaemon.response(request,
                TestDaemon.decide("placed", Decision.KEEP, ""), TestDaemon.decide("new", Decision.UNPLACEABLE, "full")))) {
            round(daemon.port());
        }
        assertEquals(counts(1, 0, 0, 0, 0), registry.counts());
    }

    @Test
    void theBreakersStateIsAGauge() {
        CircuitBreaker breaker = new CircuitBreaker(1_000);
        ShimMetrics.register(registry, breaker);
        assertEquals(0, registry.breakerOpen.getValue());
        breaker.failed(new DaemonFault(DaemonFault.Kind.SLOW, "too slow", null), 0, SECOND_NS);
        assertEquals(1, registry.breakerOpen.getValue());
        breaker.succeeded();
        assertEquals(0, registry.breakerOpen.getValue());
    }

    @Test
    void theGuideNamesEveryMetricAndNoOther() throws IOException {
        ShimMetrics.register(registry, new CircuitBreaker(1_000));
        Set<String> registered = new TreeSet<>(registry.counts().keySet());
        registered.add("breaker-open");
        String guide = Files.readString(Path.of("../docs/monitoring.md"));
        assertEquals(registered, Pattern.compile("`stormplace:([a-z-]+)`").matcher(guide).results()
            .map(match -> match.group(1)).collect(Collectors.toCollection(TreeSet::new)));
    }

    /** A registry that can be read; the names are without the shim's prefix. */
    private static final class ListedRegistry extends StormMetricsRegistry {
        private final Map<String, Meter> meters = new HashMap<>();
        private final Map<String, Timer> timers = new HashMap<>();
        private Gauge<?> breakerOpen;

        Map<String, Long> counts() {
            Map<String, Long> counts = new TreeMap<>();
            meters.forEach((name, meter) -> counts.put(own(name), meter.getCount()));
            timers.forEach((name, timer) -> counts.put(own(name), timer.getCount()));
            return counts;
        }

        private static String own(String name) {
            return name.substring("stormplace:".length());
        }

        @Override
        public Meter registerMeter(String name) {
            return meters.computeIfAbsent(name, super::registerMeter);
        }

        @Override
        public Timer registerTimer(String name) {
            return timers.computeIfAbsent(name, super::registerTimer);
        }

        @Override
        public <V> Gauge<V> registerGauge(String name, Gauge<V> gauge) {
            assertEquals("breaker-open", own(name));
            breakerOpen = gauge;
            return super.registerGauge(name, gauge);
        }
    }
}
