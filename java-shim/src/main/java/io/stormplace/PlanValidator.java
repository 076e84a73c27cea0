package io.stormplace;

import io.stormplace.wire.Decision;
import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.TopologyPlan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.WorkerSlot;

/**
 * Checks an answer against the round's cluster before anything of it is applied.
 *
 * <p>{@link Cluster#assign} itself checks next to nothing. What a slot can be given to is judged here; whether processor and
 * memory suffice is the daemon's business. A worker that stays exactly as it is needs no check: it may run on a host that is
 * blacklisted or whose supervisor is away.
 */
final class PlanValidator {
    /** More faults of one topology are counted, not listed. */
    private static final int MAX_FAULTS_SHOWN = 3;

    /**
     * The outcome of the check.
     *
     * @param verdicts one verdict for each topology that the daemon was asked about, by topology id
     * @param strays   ids in the answer that the daemon was not asked about
     */
    record Checked(Map<String, Verdict> verdicts, List<String> strays) {
    }

    private PlanValidator() {
    }

    /**
     * Checks an answer.
     *
     * @param snapshot what the daemon was asked
     * @param response what it said
     * @param cluster  the round's cluster, unchanged since the snapshot
     * @return a verdict for each topology
     * @throws DaemonFault if the answer as a whole is of another version or another round
     */
    static Checked check(Snapshot snapshot, PlanResponse response, Cluster cluster) throws DaemonFault {
        int asked = snapshot.request().getVersion();
        if (response.getVersion() != asked) {
            throw new DaemonFault(DaemonFault.Kind.REFUSED, "the daemon speaks version " + response.getVersion()
                + ", this shim speaks version " + asked, null);
        }
        if (!snapshot.request().getRound_id().equals(response.getRound_id())) {
            throw new DaemonFault(DaemonFault.Kind.NONSENSE, "the daemon answered for another round", null);
        }
        List<String> strays = new ArrayList<>();
        Map<String, List<TopologyPlan>> plans = new HashMap<>();
        for (TopologyPlan plan : response.getPlans()) {
            if (snapshot.executors().containsKey(plan.getTopology_id())) {
                plans.computeIfAbsent(plan.getTopology_id(), id -> new ArrayList<>()).add(plan);
            } else {
                strays.add(plan.getTopology_id());
            }
        }
        Set<WorkerSlot> contested = contested(snapshot, plans);
        Map<String, String> evictions = evictions(plans);
        Map<String, Verdict> verdicts = verdicts(plans, snapshot, cluster, contested, evictions.keySet());
        String fault = enactEvictions(evictions, verdicts);
        if (fault != null) {
            verdicts = verdicts(plans, snapshot, cluster, contested, Set.of());
            for (Map.Entry<String, String> eviction : evictions.entrySet()) {
                verdicts.put(eviction.getKey(), Verdict.refused(fault));
                verdicts.replace(eviction.getValue(), Verdict.refused(fault));
            }
        }
        return new Checked(verdicts, strays);
    }

    /** The topologies that are to be evicted, each with the one that it is evicted for. */
    private static Map<String, String> evictions(Map<String, List<TopologyPlan>> plans) {
        Map<String, String> evictions = new TreeMap<>();
        plans.forEach((id, all) -> all.stream().filter(TopologyPlan::isSetEvicted_for)
            .forEach(plan -> evictions.put(id, plan.getEvicted_for())));
        return evictions;
    }

    /**
     * Marks the verdicts on evicted topologies, and on those that they are evicted for, as parts of one whole.
     *
     * @return why no eviction may be carried out; null if all are sound
     */
    private static String enactEvictions(Map<String, String> evictions, Map<String, Verdict> verdicts) {
        for (Map.Entry<String, String> eviction : evictions.entrySet()) {
            String id = eviction.getKey();
            String winner = eviction.getValue();
            Verdict evicted = verdicts.get(id);
            Verdict placed = verdicts.get(winner);
            String problem = evicted.outcome() != Verdict.Outcome.UNPLACEABLE
                    ? "the plan of " + id + " evicts it and does more: " + evicted.status()
                : placed == null || placed.outcome() != Verdict.Outcome.ASSIGN
                    ? "it is for " + winner + ", which is not placed" + (placed == null ? "" : ": " + placed.status())
                : null;
            if (problem != null) {
                return "no topology is evicted in this round, as one eviction is unsound: " + problem;
            }
        }
        evictions.forEach((id, winner) -> {
            verdicts.put(id, new Verdict(Verdict.Outcome.EVICT, verdicts.get(id).status(), Map.of(), true));
            Verdict placed = verdicts.get(winner);
            verdicts.put(winner, new Verdict(placed.outcome(), placed.status(), placed.slots(), true));
        });
        return null;
    }

    private static Map<String, Verdict> verdicts(Map<String, List<TopologyPlan>> plans, Snapshot snapshot, Cluster cluster,
                                                 Set<WorkerSlot> contested, Set<String> evicted) {
        Set<WorkerSlot> freed = new HashSet<>();
        evicted.forEach(id -> freed.addAll(SlotMap.of(cluster, id).keySet()));
        Map<String, Verdict> verdicts = new TreeMap<>();
        for (String id : snapshot.executors().keySet()) {
            verdicts.put(id, verdict(id, plans.getOrDefault(id, List.of()), snapshot, cluster, contested, freed));
        }
        return verdicts;
    }

    /** The slots on which the answer puts several topologies. */
    private static Set<WorkerSlot> contested(Snapshot snapshot, Map<String, List<TopologyPlan>> plans) {
        Map<WorkerSlot, String> holders = new HashMap<>();
        Set<WorkerSlot> contested = new HashSet<>();
        plans.forEach((id, all) -> {
            for (TopologyPlan plan : all) {
                if (plan.getDecision() != Decision.ASSIGN) {
                    continue;
                }
                int pairs = Math.min(plan.getExecutor_supervisorSize(), plan.getExecutor_portSize());
                for (int i = 0; i < pairs; i++) {
                    WorkerSlot slot = sameAsBefore(plan, i) ? null : slot(snapshot, plan, i);
                    String holder = slot == null ? null : holders.putIfAbsent(slot, id);
                    if (holder != null && !holder.equals(id)) {
                        contested.add(slot);
                    }
                }
            }
        });
        return contested;
    }

    /** Whether an executor has the slot of the one before it, as often among the executors of one component. */
    private static boolean sameAsBefore(TopologyPlan plan, int executor) {
        List<Integer> supervisors = plan.getExecutor_supervisor();
        List<Integer> ports = plan.getExecutor_port();
        return executor > 0 && supervisors.get(executor).equals(supervisors.get(executor - 1))
            && ports.get(executor).equals(ports.get(executor - 1));
    }

    private static WorkerSlot slot(Snapshot snapshot, TopologyPlan plan, int executor) {
        int supervisor = plan.getExecutor_supervisor().get(executor);
        boolean known = supervisor >= 0 && supervisor < snapshot.supervisorIds().size();
        return known ? new WorkerSlot(snapshot.supervisorIds().get(supervisor), plan.getExecutor_port().get(executor))
            : null;
    }

    private static Verdict verdict(String id, List<TopologyPlan> plans, Snapshot snapshot, Cluster cluster,
                                   Set<WorkerSlot> contested, Set<WorkerSlot> freed) {
        if (plans.isEmpty()) {
            return Verdict.refused("the daemon's answer leaves it out");
        }
        if (plans.size() > 1) {
            return Verdict.refused("the daemon's answer holds " + plans.size() + " plans for it");
        }
        TopologyPlan plan = plans.get(0);
        String status = Text.oneLine(plan.getStatus());
        if (plan.getDecision() == Decision.UNPLACEABLE) {
            return new Verdict(Verdict.Outcome.UNPLACEABLE, status, Map.of());
        }
        List<ExecutorDetails> executors = snapshot.executors().get(id);
        Map<WorkerSlot, Set<ExecutorDetails>> current = SlotMap.of(cluster, id);
        if (plan.getDecision() == Decision.KEEP) {
            int placed = current.values().stream().mapToInt(Set::size).sum();
            return placed < executors.size()
                ? Verdict.refused("the plan keeps it as it is although " + (executors.size() - placed)
                    + " executors are unassigned")
                : new Verdict(Verdict.Outcome.KEEP, status, Map.of());
        }
        Set<String> faults = new LinkedHashSet<>();
        Map<WorkerSlot, Set<ExecutorDetails>> slots = slots(plan, executors, snapshot, faults);
        Set<WorkerSlot> open = new HashSet<>(freed);
        open.addAll(current.keySet());
        slots.forEach((slot, wanted) -> {
            if (!wanted.equals(current.get(slot))) {
                faults.addAll(faults(slot, open, cluster));
            }
            if (contested.contains(slot)) {
                faults.add("slot " + slot + " is given to several topologies");
            }
        });
        return faults.isEmpty() ? new Verdict(Verdict.Outcome.ASSIGN, status, slots) : Verdict.refused(shown(faults));
    }

    /** Reads the plan's parallel lists; whatever has no slot is a fault. */
    private static Map<WorkerSlot, Set<ExecutorDetails>> slots(TopologyPlan plan, List<ExecutorDetails> executors,
                                                                Snapshot snapshot, Set<String> faults) {
        Map<WorkerSlot, Set<ExecutorDetails>> slots = new LinkedHashMap<>();
        if (plan.getExecutor_supervisorSize() != executors.size() || plan.getExecutor_portSize() != executors.size()) {
            faults.add("the plan has " + plan.getExecutor_supervisorSize() + " supervisors and "
                + plan.getExecutor_portSize() + " ports for " + executors.size() + " executors");
            return slots;
        }
        Set<ExecutorDetails> worker = null;
        for (int i = 0; i < executors.size(); i++) {
            if (worker != null && sameAsBefore(plan, i)) {
                worker.add(executors.get(i));
                continue;
            }
            WorkerSlot slot = slot(snapshot, plan, i);
            worker = slot == null ? null : slots.computeIfAbsent(slot, ignored -> new HashSet<>());
            if (worker == null) {
                int supervisor = plan.getExecutor_supervisor().get(i);
                faults.add(supervisor == -1 ? "executor " + executors.get(i) + " is given no slot"
                    : "supervisor index " + supervisor + " does not exist");
            } else {
                worker.add(executors.get(i));
            }
        }
        return slots;
    }

    /**
     * Finds what speaks against a new or changed worker on a slot.
     *
     * @param slot    the slot
     * @param own     the slots that the worker's topology holds, or that are freed for it
     * @param cluster the round's cluster
     * @return a sentence for each fault
     */
    static List<String> faults(WorkerSlot slot, Set<WorkerSlot> own, Cluster cluster) {
        SupervisorDetails supervisor = cluster.getSupervisorById(slot.getNodeId());
        if (supervisor == null) {
            return List.of("supervisor " + slot.getNodeId() + " is gone");
        }
        List<String> faults = new ArrayList<>();
        if (cluster.isBlackListed(slot.getNodeId())) {
            faults.add("host " + supervisor.getHost() + " is blacklisted");
        }
        if (!supervisor.getAllPorts().contains(slot.getPort())) {
            faults.add("supervisor " + slot.getNodeId() + " does not offer port " + slot.getPort());
        }
        if (cluster.isSlotOccupied(slot) && !own.contains(slot)) {
            faults.add("slot " + slot + " is occupied by another topology");
        }
        return faults;
    }

    private static String shown(Set<String> faults) {
        String shown = String.join("; ", faults.stream().limit(MAX_FAULTS_SHOWN).toList());
        int more = faults.size() - MAX_FAULTS_SHOWN;
        return more > 0 ? shown + "; and " + more + " more faults" : shown;
    }
}
