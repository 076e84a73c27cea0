package io.stormplace;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A TCP server that accepts, answers with given bytes or not at all, and keeps the connection until the client ends it. It can go on
 * with a byte now and then, so that no read ever takes long.
 */
final class RawServer implements AutoCloseable {
    private static final long DRIP_NS = 5_000_000;

    final CountDownLatch firstConnection = new CountDownLatch(1);
    final CountDownLatch firstConnectionEnded = new CountDownLatch(1);
    final List<Socket> accepted = new CopyOnWriteArrayList<>();
    private final ServerSocket socket;
    private final byte[] answer;
    private final boolean dripping;

    RawServer(byte[] answer) throws IOException {
        this(answer, false);
    }

    RawServer(byte[] answer, boolean dripping) throws IOException {
        this.answer = answer;
        this.dripping = dripping;
        socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::serve, "raw-server");
        thread.setDaemon(true);
        thread.start();
    }

    int port() {
        return socket.getLocalPort();
    }

    private void serve() {
        try {
            while (true) {
                Socket connection = socket.accept();
                accepted.add(connection);
                firstConnection.countDown();
                Thread reader = new Thread(() -> serve(connection), "raw-connection");
                reader.setDaemon(true);
                reader.start();
            }
        } catch (IOException e) {
            // The test is over.
        }
    }

    private void serve(Socket connection) {
        try (connection; InputStream in = connection.getInputStream()) {
            connection.getOutputStream().write(answer);
            while (dripping) {
                connection.getOutputStream().write(0);
                LockSupport.parkNanos(DRIP_NS);
            }
            while (in.read() >= 0) {
                // Wait for the client's end of file.
            }
        } catch (IOException e) {
            // A reset is an end as well.
        } finally {
            firstConnectionEnded.countDown();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
        for (Socket connection : accepted) {
            connection.close();
        }
    }
}
