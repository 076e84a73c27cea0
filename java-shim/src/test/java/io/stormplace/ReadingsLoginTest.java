package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.storm.utils.ZookeeperAuthInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReadingsLoginTest {
    @TempDir
    private Path folder;

    private static void assertLogin(String scheme, String payload, ZookeeperAuthInfo login) {
        assertEquals(scheme, login.scheme);
        assertArrayEquals(payload.getBytes(StandardCharsets.UTF_8), login.payload);
    }

    @Test
    void aFileIsTheSameThatAgentsReadAndMeansADigest() throws IOException {
        Path file = Files.writeString(folder.resolve("login"), "user:pass:word\n");
        assertLogin("digest", "user:pass:word", ReadingsLogin.read(file.toString(), Map.of()));
    }

    @Test
    void withoutTheKeyStormsOwnLoginCounts() throws IOException {
        assertLogin("digest", "storm:its", ReadingsLogin.read("",
            Map.of("storm.zookeeper.auth.scheme", "digest", "storm.zookeeper.auth.payload", "storm:its")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "user", "user:", ":password", "user:password\nmore"})
    void aFileWithoutALoginIsRefusedWithoutShowingIt(String content) throws IOException {
        Path file = Files.writeString(folder.resolve("login"), content);
        String message = assertThrows(IOException.class, () -> ReadingsLogin.read(file.toString(), Map.of())).getMessage();
        assertEquals(file + " does not hold one line user:password", message);
        assertFalse(message.contains("more"));
    }

    @Test
    void aFileThatIsMissingIsAnError() {
        assertThrows(IOException.class, () -> ReadingsLogin.read(folder.resolve("none").toString(), Map.of()));
    }
}
