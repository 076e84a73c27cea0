package io.stormplace;

import java.util.concurrent.CountDownLatch;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.DefaultScheduler;
import org.apache.storm.scheduler.Topologies;

/**
 * Storm's default scheduler after something that a test wants done first, on the thread that it runs on.
 *
 * <p>The shim makes its fallback scheduler by its class name, so that tests reach it by a static field alone.
 */
public final class ScriptedScheduler extends DefaultScheduler {
    private static volatile Runnable script = () -> { };

    static void script(Runnable first) {
        script = first;
    }

    @Override
    public void schedule(Topologies topologies, Cluster cluster) {
        script.run();
        super.schedule(topologies, cluster);
    }

    /** A script that goes on when it is let go; several runs, one after the other, can be told apart. */
    static final class Gate implements Runnable {
        private final CountDownLatch open = new CountDownLatch(1);
        private final CountDownLatch reached = new CountDownLatch(1);
        private volatile Thread thread;
        private volatile int runs;

        @Override
        public void run() {
            thread = Thread.currentThread();
            runs++;
            reached.countDown();
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void awaitRun() throws InterruptedException {
            reached.await();
        }

        int runs() {
            return runs;
        }

        /** Returns when the thread of the run has ended. */
        void awaitEnd() throws InterruptedException {
            thread.join();
        }

        /** Lets the run go on, and later ones at once; returns when the thread of the run has ended. */
        void release() throws InterruptedException {
            open.countDown();
            awaitEnd();
        }
    }
}
