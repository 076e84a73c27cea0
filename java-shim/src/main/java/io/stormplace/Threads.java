package io.stormplace;

/**
 * Makes the shim's own threads.
 *
 * <p>Where a host has no thread left, starting one throws an error: whoever starts one has to leave everything as if it had never
 * tried.
 */
@FunctionalInterface
interface Threads {
    /** Threads that do not keep Nimbus from ending. */
    Threads DAEMONS = (work, name) -> {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    };

    /**
     * Makes a thread.
     *
     * @param work what it does
     * @param name its name
     * @return the thread, not started
     */
    Thread make(Runnable work, String name);
}
