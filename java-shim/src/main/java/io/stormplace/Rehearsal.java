package io.stormplace;

import io.stormplace.wire.Decision;
import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.Reading;
import io.stormplace.wire.ReadingKind;
import io.stormplace.wire.TopologyPlan;
import io.stormplace.wire.placementConstants;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.Config;
import org.apache.storm.daemon.nimbus.Nimbus;
import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.NullStruct;
import org.apache.storm.generated.SpoutSpec;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.resource.normalization.ResourceMetrics;
import org.apache.thrift.TBase;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;

/**
 * Does one round on a made-up cluster of one host, without a daemon.
 *
 * <p>A Java machine loads code when it is first used. On a busy host the first round of a Nimbus that has just taken over would spend
 * its deadline on that, and then no topology has a plan just when workers may have been lost.
 */
final class Rehearsal {
    private static final String ROUND = "rehearsal";
    private static final int PORT = 6700;

    private Rehearsal() {
    }

    /**
     * Describes, sends to memory, reads back, checks and applies.
     *
     * @param conf Nimbus' configuration
     * @return verdicts on the made-up topology, by id
     * @throws TException  if a message cannot be written or read
     * @throws DaemonFault if the made-up answer does not fit
     */
    static Map<String, Verdict> play(Map<String, Object> conf) throws TException, DaemonFault {
        Topologies topologies = new Topologies(Map.of(ROUND, topology(conf)));
        SupervisorDetails supervisor = new SupervisorDetails(ROUND, ROUND, Map.of("site", ROUND), List.of(PORT), Map.of());
        // a registry of its own: what happens here is not to be among Nimbus' metrics
        Cluster cluster = new Cluster(new Nimbus.StandaloneINimbus(), new ResourceMetrics(new StormMetricsRegistry()),
            Map.of(ROUND, supervisor), Map.of(), topologies, conf);
        LastAssignments last = new LastAssignments();
        Fingerprint.of(topologies, cluster, Map.of(), new ConfHashes(), List.of());
        Reading reading = new Reading(ReadingKind.NODE, ROUND, ByteBuffer.wrap(new byte[] {'{', '}'}), 0);
        Snapshot snapshot = new SnapshotBuilder(last).build(ROUND, topologies, cluster,
            new ReadingsCache.View(List.of(reading), List.of(), true), () -> false);
        exchange(snapshot.request(), new PlanRequest());
        PlanResponse response = new PlanResponse();
        exchange(answer(), response);
        Map<String, Verdict> verdicts = PlanValidator.check(snapshot, response, cluster).verdicts();
        verdicts.forEach((id, verdict) -> new PlanApplier().apply(cluster, Map.of(id, verdict.slots()), Set.of()));
        last.remember(topologies, cluster);
        Fingerprint.of(topologies, cluster, Map.of(), new ConfHashes(), List.of());
        return verdicts;
    }

    private static void exchange(TBase<?, ?> sent, TBase<?, ?> received) throws TException {
        new TDeserializer().deserialize(received, new TSerializer().serialize(sent));
    }

    private static PlanResponse answer() {
        TopologyPlan plan = new TopologyPlan(ROUND, Decision.ASSIGN, List.of(0, 0), List.of(PORT, PORT), ROUND, ROUND);
        return new PlanResponse(placementConstants.VERSION, ROUND, List.of(plan));
    }

    private static TopologyDetails topology(Map<String, Object> conf) {
        Map<GlobalStreamId, Grouping> inputs = Map.of(new GlobalStreamId("spout", "default"), Grouping.shuffle(new NullStruct()));
        StormTopology code = new StormTopology(
            Map.of("spout", new SpoutSpec(new ComponentObject(), new ComponentCommon(Map.of(), Map.of()))),
            Map.of("bolt", new Bolt(new ComponentObject(), new ComponentCommon(inputs, Map.of()))), Map.of());
        Map<String, Object> own = new HashMap<>(conf);
        own.put(Config.TOPOLOGY_NAME, ROUND);
        return new TopologyDetails(ROUND, own, code, 1,
            Map.of(new ExecutorDetails(1, 1), "spout", new ExecutorDetails(2, 2), "bolt"), ROUND);
    }
}
