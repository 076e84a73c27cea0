package io.stormplace;

import java.io.ByteArrayOutputStream;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Large readings are packed by zlib in their znodes; {@code formats/packed_content.py} of the project packs them. */
final class PackedContent {
    /** Longest text that is unpacked: a znode holds a megabyte, which may stand for a gigabyte. */
    static final int MAX_UNPACKED_BYTES = 4 * 1024 * 1024;

    /** With it a stream of zlib begins, and no JSON text of an object or a list. */
    private static final byte FIRST_BYTE = 0x78;
    private static final int PART_BYTES = 8192;

    private PackedContent() {
    }

    /**
     * Returns the text that a znode stands for.
     *
     * @param content what the znode holds
     * @return its text; the content itself if it is not packed or cannot be unpacked, so that the daemon names what is wrong with it
     */
    static byte[] unpack(byte[] content) {
        if (content.length == 0 || content[0] != FIRST_BYTE) {
            return content;
        }
        Inflater stream = new Inflater();
        try {
            stream.setInput(content);
            ByteArrayOutputStream text = new ByteArrayOutputStream(PART_BYTES);
            byte[] part = new byte[PART_BYTES];
            while (!stream.finished()) {
                int length = stream.inflate(part);
                boolean goesOn = length > 0 || stream.finished();
                if (!goesOn || text.size() + length > MAX_UNPACKED_BYTES) {
                    return content;
                }
                text.write(part, 0, length);
            }
            return stream.getRemaining() == 0 ? text.toByteArray() : content;
        } catch (DataFormatException damaged) {
            return content;
        } finally {
            stream.end();
        }
    }
}
