package io.stormplace;

/** The status line of a topology in shadow mode: what the fallback scheduler said, then what the daemon would do. */
final class ShadowStatus {
    private static final String MARK = "Shadow plan: ";

    private ShadowStatus() {
    }

    /**
     * Joins both schedulers' words.
     *
     * @param current the topology's status after the fallback scheduler's round, possibly with an earlier shadow plan; or null
     * @param verdict what the shim would do in active mode
     * @return the new status
     */
    static String of(String current, Verdict verdict) {
        String would = switch (verdict.outcome()) {
            case ASSIGN -> "would assign: ";
            case KEEP -> "would keep: ";
            case UNPLACEABLE -> "unplaceable: ";
            case WAIT -> "none yet: ";
            case EVICT -> "would evict: ";
            case REFUSED -> "none: ";
        };
        String own = current == null ? "" : current;
        int mark = own.indexOf(MARK);
        own = mark >= 0 ? own.substring(0, mark).strip() : own.strip();
        return own + (own.isEmpty() ? "" : " ") + MARK + would + verdict.status();
    }
}
