package io.stormplace;

import com.codahale.metrics.Meter;
import com.codahale.metrics.Timer;
import org.apache.storm.metric.StormMetricsRegistry;

/**
 * The shim's counters and timers among Nimbus' own metrics, which Storm's reporters publish.
 *
 * @param rounds            rounds with at least one topology
 * @param roundsWithoutPlan rounds in which no topology had a plan
 * @param topologiesRefused topologies whose plan the shim refused, in every round
 * @param fallbackRounds    rounds in which the fallback scheduler was asked for topologies without a plan
 * @param describing        time of describing the cluster
 * @param answering         time of the daemon's answer, of calls that failed too
 * @param applying          time of applying placements: the daemon's, new workers, the fallback scheduler's each by itself
 */
record ShimMetrics(Meter rounds, Meter roundsWithoutPlan, Meter topologiesRefused, Meter fallbackRounds, Timer describing,
                   Timer answering, Timer applying) {
    private static final String PREFIX = "stormplace:";

    /**
     * Registers the metrics.
     *
     * @param registry Nimbus' metrics
     * @param breaker  the breaker whose state is a gauge: 1 while the daemon is not asked, else 0
     * @return the metrics
     */
    static ShimMetrics register(StormMetricsRegistry registry, CircuitBreaker breaker) {
        registry.registerGauge(PREFIX + "breaker-open", () -> breaker.isOpen() ? 1 : 0);
        return new ShimMetrics(registry.registerMeter(PREFIX + "num-rounds"),
            registry.registerMeter(PREFIX + "num-rounds-without-plan"),
            registry.registerMeter(PREFIX + "num-topologies-refused"),
            registry.registerMeter(PREFIX + "num-fallback-rounds"),
            registry.registerTimer(PREFIX + "describing-duration-ms"),
            registry.registerTimer(PREFIX + "answering-duration-ms"),
            registry.registerTimer(PREFIX + "applying-duration-ms"));
    }
}
