package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PackedContentTest {
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void assertPassedOn(byte[] content) {
        assertSame(content, PackedContent.unpack(content));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{}", "[1]", "nonsense", " {}"})
    void aTextIsPassedOn(String text) {
        assertPassedOn(bytes(text));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8191, 8192, 8193, 100_000, PackedContent.MAX_UNPACKED_BYTES})
    void aPackedTextIsUnpackedWhateverItsLength(int length) {
        byte[] text = new byte[length];
        Arrays.fill(text, (byte) '[');
        assertArrayEquals(text, PackedContent.unpack(Fixture.packed(text)));
    }

    @Test
    void whatAgentsPackIsUnpacked() {
        // zlib.compress(b'{"version":1,"host":"a"}') of Python
        byte[] packed = Base64.getDecoder().decode("eJyrVipLLSrOzM9TsjLUUcrILy5RslJKVKoFAGZvB7s=");
        assertArrayEquals(bytes("{\"version\":1,\"host\":\"a\"}"), PackedContent.unpack(packed));
    }

    @Test
    void aLongerTextIsNotUnpackedHoweverLittleItTakes() {
        byte[] bomb = Fixture.packed(new byte[PackedContent.MAX_UNPACKED_BYTES + 1]);
        assertEquals(0x78, bomb[0]);
        assertPassedOn(bomb);
    }

    @Test
    void whatIsCutAnywhereIsPassedOn() {
        byte[] packed = Fixture.packed(bytes("{\"links\":{}}".repeat(50)));
        for (int length = 0; length < packed.length; length++) {
            assertPassedOn(Arrays.copyOf(packed, length));
        }
    }

    @Test
    void whatGoesOnAfterItsEndIsPassedOn() {
        byte[] packed = Fixture.packed(bytes("{}"));
        assertPassedOn(Arrays.copyOf(packed, packed.length + 1));
    }

    @Test
    void garbageIsPassedOn() {
        Random random = new Random(1);
        for (int each = 0; each < 1_000; each++) {
            byte[] garbage = new byte[2 + random.nextInt(200)];
            random.nextBytes(garbage);
            garbage[0] = 0x78;
            garbage[1] = (byte) 0x9c;
            assertPassedOn(garbage);
        }
    }

    @Test
    void whatNeedsADictionaryIsPassedOn() {
        Deflater deflater = new Deflater();
        deflater.setDictionary(bytes("{\"version\":1}"));
        deflater.setInput(bytes("{\"version\":1}"));
        deflater.finish();
        byte[] packed = new byte[100];
        int length = deflater.deflate(packed);
        deflater.end();
        assertPassedOn(Arrays.copyOf(packed, length));
    }
}
