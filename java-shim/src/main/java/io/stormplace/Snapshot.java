package io.stormplace;

import io.stormplace.wire.PlanRequest;
import java.util.List;
import java.util.Map;
import org.apache.storm.scheduler.ExecutorDetails;

/**
 * What one round sends to the daemon, with the names behind the indices.
 *
 * @param request       the request; its deadline is set when it is sent
 * @param supervisorIds supervisor id by supervisor index of the request
 * @param executors     topology id to the topology's executors in the order of the request
 * @param leftOut       topology id to the reason why the topology could not be described
 * @param waiting       ids of topologies that are described in a later round
 */
record Snapshot(PlanRequest request, List<String> supervisorIds, Map<String, List<ExecutorDetails>> executors,
                Map<String, String> leftOut, List<String> waiting) {
}
