package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.wire.PlacementDaemon;
import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.Refused;
import io.stormplace.wire.placementConstants;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DaemonClientTest {
    private static final int AMPLE_MS = 20_000;
    private static final int SHORT_MS = 1_000;

    private static PlanRequest request() {
        return new PlanRequest(placementConstants.VERSION, "r", 1, List.of(), List.of(), List.of(), false);
    }

    private static DaemonClient client(int port) {
        return new DaemonClient("127.0.0.1", port, Threads.DAEMONS);
    }

    private static DaemonFault fault(DaemonClient client, int budgetMs) {
        return assertThrows(DaemonFault.class, () -> client.plan(request(), budgetMs, false));
    }

    @Test
    void anAnswerComesBack() throws Exception {
        try (TestDaemon daemon = new TestDaemon(TestDaemon::response)) {
            assertEquals("r", client(daemon.port()).plan(request(), AMPLE_MS, false).getRound_id());
            assertEquals(request(), daemon.lastRequest());
        }
    }

    private static PlacementDaemon.Iface speaking(int oldest, int newest) {
        return request -> {
            if (request.getVersion() < oldest || request.getVersion() > newest) {
                throw new Refused("not spoken").setOldest_version(oldest).setNewest_version(newest);
            }
            return TestDaemon.response(request).setVersion(request.getVersion());
        };
    }

    @Test
    void anOlderDaemonIsAskedAgainInItsNewestVersion() throws Exception {
        try (TestDaemon daemon = new TestDaemon(speaking(1, 2))) {
            PlanRequest request = request().setVersion(4);
            assertEquals(2, client(daemon.port()).plan(request, AMPLE_MS, false).getVersion());
            assertEquals(2, request.getVersion());
            assertEquals(List.of(4, 2), daemon.requests.stream().map(PlanRequest::getVersion).toList());
        }
    }

    @Test
    void aDaemonWhoseVersionsAreAllUnknownHereIsARefusalAndIsAskedOnce() throws Exception {
        for (int[] range : new int[][] {{7, 9}, {-3, 0}}) {
            try (TestDaemon daemon = new TestDaemon(speaking(range[0], range[1]))) {
                DaemonFault fault = fault(client(daemon.port()), AMPLE_MS);
                assertEquals(DaemonFault.Kind.REFUSED, fault.kind(), fault.getMessage());
                assertEquals(1, daemon.requests.size());
            }
        }
    }

    @Test
    void noDaemonAtTheAddressIsAbsence() throws IOException {
        DaemonFault fault = fault(client(Fixture.unusedPort()), AMPLE_MS);
        assertEquals(DaemonFault.Kind.ABSENT, fault.kind(), fault.getMessage());
    }

    @Test
    void aHostThatCannotBeResolvedIsAbsence() {
        DaemonFault fault = fault(new DaemonClient("no such host", 1, Threads.DAEMONS), AMPLE_MS);
        assertEquals(DaemonFault.Kind.ABSENT, fault.kind(), fault.getMessage());
    }

    @Test
    void whereNoThreadCanBeStartedTheCallIsAFaultAndALaterOneIsMade() throws Exception {
        AtomicReference<Threads> threads = new AtomicReference<>(Fixture.NO_THREADS);
        try (TestDaemon daemon = new TestDaemon(TestDaemon::response)) {
            DaemonClient client = new DaemonClient("127.0.0.1", daemon.port(), (work, name) -> threads.get().make(work, name));
            DaemonFault fault = fault(client, AMPLE_MS);
            assertEquals(DaemonFault.Kind.ABSENT, fault.kind(), fault.getMessage());
            assertTrue(fault.getMessage().contains("no thread can be started"), fault.getMessage());
            threads.set(Threads.DAEMONS);
            assertEquals("r", client.plan(request(), AMPLE_MS, false).getRound_id());
        }
    }

    @Test
    void aServerThatAcceptsAndNeverAnswersIsSlowAndItsConnectionIsClosed() throws Exception {
        try (RawServer server = new RawServer(new byte[0])) {
            assertEquals(DaemonFault.Kind.SLOW, fault(client(server.port()), SHORT_MS).kind());
            assertTrue(server.firstConnectionEnded.await(AMPLE_MS, TimeUnit.MILLISECONDS));
        }
    }

    @Test
    void aReplyThatDripsInIsSlowAndItsConnectionIsClosed() throws Exception {
        byte[] lengthOfAFrame = ByteBuffer.allocate(4).putInt(10_000_000).array();
        try (RawServer server = new RawServer(lengthOfAFrame, true)) {
            assertEquals(DaemonFault.Kind.SLOW, fault(client(server.port()), SHORT_MS).kind());
            assertTrue(server.firstConnectionEnded.await(AMPLE_MS, TimeUnit.MILLISECONDS));
        }
    }

    static List<Named<byte[]>> nonsense() {
        byte[] random = new byte[4096];
        new Random(7).nextBytes(random);
        // As a frame's length the first byte would promise more than any frame may hold.
        random[0] = 0x7f;
        byte[] framed = random.clone();
        ByteBuffer.wrap(framed).putInt(framed.length - 4);
        byte[] zeros = new byte[64];
        ByteBuffer.wrap(zeros).putInt(zeros.length - 4);
        return List.of(Named.of("random bytes", random), Named.of("a frame of random bytes", framed),
            Named.of("a frame of zeros", zeros),
            Named.of("another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
            Named.of("a negative length", new byte[] {-1, -1, -1, -1}));
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void bytesThatAreNoAnswerAreNonsense(byte[] bytes) throws Exception {
        try (RawServer server = new RawServer(bytes)) {
            DaemonFault fault = fault(client(server.port()), AMPLE_MS);
            assertEquals(DaemonFault.Kind.NONSENSE, fault.kind(), fault.getMessage());
        }
    }

    @Test
    void aRefusalCarriesTheDaemonsReason() throws Exception {
        try (TestDaemon daemon = new TestDaemon(request -> {
            throw new Refused("version 9 only\nsorry");
        })) {
            DaemonFault fault = fault(client(daemon.port()), AMPLE_MS);
            assertEquals(DaemonFault.Kind.REFUSED, fault.kind());
            assertTrue(fault.getMessage().endsWith("refused the request: version 9 only sorry"), fault.getMessage());
        }
    }

    @Test
    void anExceptionInTheDaemonIsNoAnswer() throws Exception {
        try (TestDaemon daemon = new TestDaemon(request -> {
            throw new TException("broken");
        })) {
            DaemonFault fault = fault(client(daemon.port()), AMPLE_MS);
            assertEquals(DaemonFault.Kind.NONSENSE, fault.kind(), fault.getMessage());
        }
    }

    @Test
    void anInterruptOfTheCallsOwnThreadIsAFaultAndNotTheCallersInterrupt() throws Exception {
        PlanRequest interrupted = new PlanRequest(request()) {
            @Override
            public void write(TProtocol protocol) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(new InterruptedException());
            }
        };
        try (RawServer server = new RawServer(new byte[0])) {
            DaemonFault fault = assertThrows(DaemonFault.class, () -> client(server.port()).plan(interrupted, AMPLE_MS, false));
            assertEquals(DaemonFault.Kind.NONSENSE, fault.kind(), fault.getMessage());
            assertFalse(Thread.interrupted());
        }
    }

    @Test
    void noSecondCallIsBegunWhileAnAbandonedOneHangs() throws Exception {
        // Interrupts and closed sockets end every call that hangs here, so a hanging one has to be made.
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch writing = new CountDownLatch(1);
        PlanRequest stubborn = new PlanRequest(request()) {
            @Override
            public void write(TProtocol protocol) {
                writing.countDown();
                boolean released = false;
                while (!released) {
                    try {
                        never.await();
                        released = true;
                    } catch (InterruptedException e) {
                        // As deaf as a name resolution that hangs.
                    }
                }
            }
        };
        try (RawServer server = new RawServer(new byte[0])) {
            DaemonClient client = client(server.port());
            assertThrows(DaemonFault.class, () -> client.plan(stubborn, SHORT_MS, false));
            writing.await();
            for (int round = 0; round < 3; round++) {
                DaemonFault fault = fault(client, AMPLE_MS);
                assertEquals(DaemonFault.Kind.SLOW, fault.kind());
                assertTrue(fault.getMessage().contains("still hangs"), fault.getMessage());
            }
            assertEquals(1, server.accepted.size());
        } finally {
            never.countDown();
        }
    }
}
