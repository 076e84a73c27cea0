package io.stormplace;

/** Why the placement daemon gave no usable answer in a round. */
public final class DaemonFault extends Exception {
    private static final long serialVersionUID = 1L;

    /** The kinds of fault that an operator tells apart. */
    public enum Kind {
        /** Nobody listens at the daemon's address, or the connection ended before an answer. */
        ABSENT,
        /** No answer before the deadline. */
        SLOW,
        /** The daemon refused the request, or speaks another version. */
        REFUSED,
        /** Bytes came back that are no answer to the request. */
        NONSENSE
    }

    private final Kind kind;
    private final boolean asked;

    /**
     * Creates a fault.
     *
     * @param kind    what kind of fault it is
     * @param message one sentence for log and status lines, without numbers that change from round to round
     * @param cause   what was caught, or null
     */
    public DaemonFault(Kind kind, String message, Throwable cause) {
        this(kind, message, cause, true);
    }

    private DaemonFault(Kind kind, String message, Throwable cause, boolean asked) {
        super(message, cause);
        this.kind = kind;
        this.asked = asked;
    }

    /**
     * Creates the fault of a round in which the daemon was not asked, because asking has just failed at a price.
     *
     * @param last the fault that made the shim wait
     * @return a fault of the same kind and message
     */
    static DaemonFault notAsked(DaemonFault last) {
        return new DaemonFault(last.kind, last.getMessage(), last, false);
    }

    /**
     * Returns the kind of fault.
     *
     * @return never null
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Tells whether the daemon was asked in this round.
     *
     * @return false if the round only repeats an earlier fault during the back-off
     */
    public boolean asked() {
        return asked;
    }
}
