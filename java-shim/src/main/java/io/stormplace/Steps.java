package io.stormplace;

/**
 * Does the steps of a round one after the other, whatever goes wrong in one of them; the first fault is thrown at the end.
 *
 * <p>Used by the scheduling thread alone.
 */
final class Steps {
    /** A step; it changes the cluster completely or not at all. */
    @FunctionalInterface
    interface Step {
        /** Does it. */
        void take() throws InterruptedException;
    }

    private InterruptedException interrupt;
    private RuntimeException exception;
    private Error error;

    /**
     * Does a step.
     *
     * @param step what to do; what it throws is kept for the end
     */
    void take(Step step) {
        try {
            step.take();
        } catch (InterruptedException e) {
            interrupt = e;
        } catch (RuntimeException e) {
            exception = exception == null ? e : exception;
        } catch (Error e) {
            error = error == null ? e : error;
        }
    }

    /**
     * Throws what went wrong, if anything did.
     *
     * @throws InterruptedException if the thread was interrupted, whatever else went wrong: the interrupt must not be lost
     */
    void end() throws InterruptedException {
        if (interrupt != null) {
            throw interrupt;
        }
        if (error != null) {
            throw error;
        }
        if (exception != null) {
            throw exception;
        }
    }
}
