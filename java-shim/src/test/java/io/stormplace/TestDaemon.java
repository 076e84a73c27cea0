package io.stormplace;

import io.stormplace.wire.Decision;
import io.stormplace.wire.PlacementDaemon;
import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.Topology;
import io.stormplace.wire.TopologyPlan;
import io.stormplace.wire.placementConstants;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;

/** A real Thrift server on the loopback interface whose plans are made by the test. */
final class TestDaemon implements AutoCloseable {
    private static final long PATIENCE_MS = 60_000;

    final List<PlanRequest> requests = new CopyOnWriteArrayList<>();
    private final TServerSocket socket;
    private final TThreadPoolServer server;
    private final Thread thread;

    TestDaemon(PlacementDaemon.Iface planner) throws TTransportException {
        this(0, planner);
    }

    TestDaemon(int port, PlacementDaemon.Iface planner) throws TTransportException {
        socket = new TServerSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        PlacementDaemon.Iface service = request -> {
            requests.add(request);
            return planner.plan(request);
        };
        server = new TThreadPoolServer(new TThreadPoolServer.Args(socket)
            .processor(new PlacementDaemon.Processor<>(service))
            .transportFactory(new TFramedTransport.Factory())
            .protocolFactory(new TBinaryProtocol.Factory()).minWorkerThreads(1).stopTimeoutVal(1));
        thread = new Thread(server::serve, "test-daemon");
        thread.setDaemon(true);
        thread.start();
    }

    int port() {
        return socket.getServerSocket().getLocalPort();
    }

    PlanRequest lastRequest() {
        return requests.get(requests.size() - 1);
    }

    /** Returns when no client can connect any more: the thread that accepts has ended. */
    @Override
    public void close() {
        server.stop();
        socket.close();
        try {
            thread.join(PATIENCE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static PlanResponse response(PlanRequest request, TopologyPlan... plans) {
        return new PlanResponse(placementConstants.VERSION, request.getRound_id(), List.of(plans));
    }

    static TopologyPlan decide(String topology, Decision decision, String status) {
        return new TopologyPlan(topology, decision, List.of(), List.of(), status, "test");
    }

    /** Puts every executor of a topology on one slot. */
    static TopologyPlan onOneSlot(PlanRequest request, String topology, String supervisor, int port) {
        int size = topology(request, topology).getExecutor_first_taskSize();
        return assign(topology, Collections.nCopies(size, supervisorIndex(request, supervisor)),
            Collections.nCopies(size, port));
    }

    static TopologyPlan assign(String topology, List<Integer> supervisors, List<Integer> ports) {
        return new TopologyPlan(topology, Decision.ASSIGN, new ArrayList<>(supervisors), new ArrayList<>(ports),
            "placed by the test", "test");
    }

    static Topology topology(PlanRequest request, String id) {
        return request.getTopologies().stream().filter(topology -> topology.getId().equals(id)).findFirst()
            .orElseThrow();
    }

    static int supervisorIndex(PlanRequest request, String id) {
        return request.getSupervisors().stream().map(supervisor -> supervisor.getId()).toList().indexOf(id);
    }
}
