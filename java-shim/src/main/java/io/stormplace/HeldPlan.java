package io.stormplace;

import io.stormplace.wire.PlanResponse;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The last plan, as long as the daemon said that a cluster in which nothing changes needs no other.
 *
 * <p>Used by the scheduling thread alone.
 */
final class HeldPlan {
    private static final Set<Verdict.Outcome> UNCHANGING = EnumSet.of(Verdict.Outcome.KEEP, Verdict.Outcome.UNPLACEABLE);

    private long fingerprint;
    private long untilNs;
    private Map<String, Verdict> verdicts;

    /**
     * Returns the verdicts of the last plan if they still hold.
     *
     * @param current fingerprint of the cluster
     * @param nowNs   monotonic time
     * @return the verdicts, none of which changes anything; null if the daemon has to be asked
     */
    Map<String, Verdict> verdicts(long current, long nowNs) {
        return verdicts != null && current == fingerprint && nowNs - untilNs < 0 ? verdicts : null;
    }

    /**
     * Takes note of a plan; it is held only if it changes nothing.
     *
     * @param current  fingerprint of the cluster that it is for
     * @param response the daemon's answer
     * @param found    the verdicts on it
     * @param nowNs    monotonic time
     */
    void hold(long current, PlanResponse response, Map<String, Verdict> found, long nowNs) {
        boolean changes = found.values().stream().anyMatch(verdict -> !UNCHANGING.contains(verdict.outcome()));
        verdicts = !changes && response.isSetHold_ms() ? Map.copyOf(found) : null;
        fingerprint = current;
        untilNs = nowNs + TimeUnit.MILLISECONDS.toNanos(response.getHold_ms());
    }
}
