package io.stormplace;

/** Why the placement daemon gave no usable answer in a round. */
public final class DaemonFault extends Exception {
    private static final long serialVersionUID = 1L;

    /** The kinds of fault that differ for an operator. */
    public enum Kind {
        /** No process listens at the daemon's address, or the connection ended before an answer. */
        ABSENT,
        /** No answer before the deadline. */
        SLOW,
        /** The daemon refused the request, or speaks another version. */
        REFUSED,
        /** Bytes came back that are no answer to the request. */
        NONSENSE
    }

    private final Kind kind;

    /**
     * Creates a fault.
     *
     * @param kind    what kind of fault it is
     * @param message one sentence for log and status lines, without numbers that change from round to round
     * @param cause   what was caught, or null
     */
    public DaemonFault(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /**
     * Returns the kind of fault.
     *
     * @return never null
     */
    public Kind kind() {
        return kind;
    }
}
