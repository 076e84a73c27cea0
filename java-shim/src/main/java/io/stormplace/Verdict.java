package io.stormplace;

import java.util.Map;
import java.util.Set;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * What becomes of one topology in a round.
 *
 * @param outcome what is to be done
 * @param status  the daemon's line for the topology's status, or the reason of a refusal
 * @param slots   slot to executors, complete; empty unless the outcome is ASSIGN
 * @param evicts  whether it is carried out together with all others of the round that are part of evictions, or not at all
 */
record Verdict(Outcome outcome, String status, Map<WorkerSlot, Set<ExecutorDetails>> slots, boolean evicts) {

    /** Creates a verdict that is no part of evictions. */
    Verdict(Outcome outcome, String status, Map<WorkerSlot, Set<ExecutorDetails>> slots) {
        this(outcome, status, slots, false);
    }

    /** What is to be done with a topology. */
    enum Outcome {
        /** Place it as planned. */
        ASSIGN,
        /** Leave it as it is, by the daemon's decision. */
        KEEP,
        /** Leave it as it is, because the daemon found no place for it. */
        UNPLACEABLE,
        /** Leave it as it is, as the daemon is asked about it in a later round. */
        WAIT,
        /** Free all its slots, as a topology that comes before it needs them. */
        EVICT,
        /** There is no usable plan for it: leave what is placed, let the fallback scheduler place the rest. */
        REFUSED
    }

    /**
     * Creates the verdict for a topology without a usable plan.
     *
     * @param reason why there is none
     * @return a refusal
     */
    static Verdict refused(String reason) {
        return new Verdict(Outcome.REFUSED, reason, Map.of());
    }
}
