package io.stormplace;

/** Makes foreign text fit for one line of a log or of a topology's status. */
final class Text {
    private static final int MAX_LENGTH = 500;

    private Text() {
    }

    /**
     * Puts text on one line of bounded length.
     *
     * @param text any text, or null
     * @return the text without control characters, cut at 500 characters; empty for null
     */
    static String oneLine(String text) {
        if (text == null) {
            return "";
        }
        String line = text.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
        return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH - 3) + "...";
    }

    /**
     * Describes a throwable in a few words.
     *
     * @param throwable what was caught
     * @return its simple class name and its message on one line
     */
    static String describe(Throwable throwable) {
        String message = oneLine(throwable.getMessage());
        String name = throwable.getClass().getSimpleName();
        return message.isEmpty() ? name : name + ": " + message;
    }
}
