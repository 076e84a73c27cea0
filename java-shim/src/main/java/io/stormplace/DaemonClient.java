package io.stormplace;

import io.stormplace.wire.PlacementDaemon;
import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.Refused;
import io.stormplace.wire.placementConstants;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;

/**
 * Calls the placement daemon within a deadline.
 *
 * <p>A call runs on a thread of its own, because neither name resolution nor a reply that drips in byte by byte obeys a
 * socket's time-out. A call that misses the deadline is abandoned: its socket is closed, and no other call is begun while
 * its thread is alive, so at most one such thread exists. Each round opens a connection of its own; a restarted daemon
 * needs no recovery. Used by the scheduling thread alone, except for {@link #close()}.
 */
final class DaemonClient implements AutoCloseable {
    /** How long connecting may take in a round that follows a failure, in ms. */
    private static final int PROBE_MS = 200;

    private final String host;
    private final int port;
    private final Threads threads;
    private volatile Call current;
    private Call abandoned;

    /**
     * Creates a client; nothing is connected yet.
     *
     * @param host    name or address of the daemon's host
     * @param port    TCP port of the daemon
     * @param threads makes the thread of a call
     */
    DaemonClient(String host, int port, Threads threads) {
        this.host = host;
        this.port = port;
        this.threads = threads;
    }

    /**
     * Asks for a plan. A daemon that speaks older versions only is asked again in its newest, which the request then states.
     *
     * @param request  what to plan
     * @param budgetMs time until this method has returned or thrown, at least 1 ms
     * @param probe    true to give up early on connecting, because the last attempt failed
     * @return the daemon's answer, unchecked
     * @throws DaemonFault          if there is no answer within the budget
     * @throws InterruptedException if the calling thread is interrupted; the call is abandoned
     */
    PlanResponse plan(PlanRequest request, int budgetMs, boolean probe) throws DaemonFault, InterruptedException {
        if (abandoned != null && abandoned.thread.isAlive()) {
            throw new DaemonFault(DaemonFault.Kind.SLOW, "the call of an earlier round to " + address() + " still hangs",
                null);
        }
        Call call = new Call(request, budgetMs, probe ? Math.min(PROBE_MS, budgetMs) : budgetMs);
        current = call;
        try {
            call.thread.start();
        } catch (RuntimeException | Error e) {
            call.abandon();
            throw new DaemonFault(DaemonFault.Kind.ABSENT, "no thread can be started to ask " + address() + ": "
                + Text.describe(e), e);
        }
        try {
            return call.task.get(budgetMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            abandoned = call;
            call.abandon();
            throw slow(e);
        } catch (InterruptedException e) {
            abandoned = call;
            call.abandon();
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof DaemonFault fault) {
                throw fault;
            }
            throw new DaemonFault(DaemonFault.Kind.NONSENSE,
                "the answer of " + address() + " cannot be read: " + Text.describe(e.getCause()), e.getCause());
        }
    }

    /** Abandons a call that may still be under way. */
    @Override
    public void close() {
        Call call = current;
        if (call != null) {
            call.abandon();
        }
    }

    private String address() {
        return host + ":" + port;
    }

    private DaemonFault slow(Throwable cause) {
        return new DaemonFault(DaemonFault.Kind.SLOW, address() + " did not answer before the deadline", cause);
    }

    /** One call: its thread, its socket and its outcome. */
    private final class Call {
        private final FutureTask<PlanResponse> task;
        private final Thread thread;
        private final TSocket socket;
        private volatile boolean answering;

        Call(PlanRequest request, int readMs, int connectMs) throws DaemonFault {
            try {
                socket = new TSocket(TConfiguration.DEFAULT, host, port, readMs, connectMs) {
                    @Override
                    public int read(byte[] buffer, int offset, int length) throws TTransportException {
                        int count = super.read(buffer, offset, length);
                        answering |= count > 0;
                        return count;
                    }
                };
            } catch (TTransportException e) {
                throw new DaemonFault(DaemonFault.Kind.ABSENT, "no socket can be made: " + Text.describe(e), e);
            }
            task = new FutureTask<>(() -> exchange(request));
            thread = threads.make(task, "stormplace-daemon-call");
        }

        private PlanResponse exchange(PlanRequest request) throws Exception {
            try {
                open();
                return ask(request);
            } finally {
                socket.close();
            }
        }

        private void open() throws DaemonFault {
            try {
                socket.open();
            } catch (TTransportException e) {
                throw new DaemonFault(DaemonFault.Kind.ABSENT,
                    "no connection to " + address() + ": " + Text.describe(e), e);
            }
        }

        private PlanResponse ask(PlanRequest request) throws Exception {
            try {
                PlacementDaemon.Client client =
                    new PlacementDaemon.Client(new TBinaryProtocol(new TFramedTransport(socket)));
                try {
                    return client.plan(request);
                } catch (Refused e) {
                    if (!namesAnOlderVersion(e, request)) {
                        throw e;
                    }
                    // The same request will do: what the older version does not know is optional.
                    request.setVersion(e.getNewest_version());
                    return client.plan(request);
                }
            } catch (Refused e) {
                throw new DaemonFault(DaemonFault.Kind.REFUSED,
                    address() + " refused the request: " + Text.oneLine(e.getReason()), e);
            } catch (TTransportException e) {
                if (e.getType() == TTransportException.TIMED_OUT) {
                    throw slow(e);
                }
                // Thrift uses one exception for a connection that ends and for bytes that promise more than they hold.
                if (answering) {
                    throw e;
                }
                throw new DaemonFault(DaemonFault.Kind.ABSENT,
                    address() + " closed the connection without an answer", e);
            }
        }

        private boolean namesAnOlderVersion(Refused refusal, PlanRequest request) {
            int newest = refusal.getNewest_version();
            return refusal.isSetNewest_version() && newest >= placementConstants.OLDEST_VERSION
                && newest < request.getVersion();
        }

        void abandon() {
            task.cancel(true);
            socket.close();
        }
    }
}
