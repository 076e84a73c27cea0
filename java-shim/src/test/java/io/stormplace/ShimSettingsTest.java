package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShimSettingsTest {
    @Test
    void withoutKeysEverySettingHasItsDefault() {
        assertEquals(new ShimSettings("127.0.0.1", 7090, 2000, "/stormplace", "",
            "org.apache.storm.scheduler.DefaultScheduler", ShimSettings.Mode.ACTIVE, List.of()),
            ShimSettings.read(Map.of("nimbus.seeds", List.of("a"))));
    }

    @Test
    void everyKeyIsRead() {
        ShimSettings settings = ShimSettings.read(Map.of("stormplace.daemon.host", "planner",
            "stormplace.daemon.port", 7191L, "stormplace.daemon.deadline.ms", 500, "stormplace.zookeeper.root", "/a/b", "stormplace.zookeeper.auth", "/etc/stormplace/zookeeper-login",
            "stormplace.fallback.scheduler", "org.apache.storm.scheduler.EvenScheduler", "stormplace.mode", "shadow"));
        assertEquals(new ShimSettings("planner", 7191, 500, "/a/b", "/etc/stormplace/zookeeper-login", "org.apache.storm.scheduler.EvenScheduler",
            ShimSettings.Mode.SHADOW, List.of()), settings);
    }

    @ParameterizedTest
    @ValueSource(strings = {"digest:user:secret", "secret", "", ":secret", "conf/secret", "/"})
    void aLoginThatIsNoFileIsRefusedWithoutShowingIt(String login) {
        ShimSettings settings = ShimSettings.read(Map.of("stormplace.zookeeper.auth", login));
        assertEquals(List.of("stormplace.zookeeper.auth has to be the absolute path of a file that holds the login, as Storm "
            + "copies this key into every topology's configuration; using Storm's own login"), settings.faults());
        assertEquals("", settings.zookeeperAuth());
        assertFalse(settings.toString().contains("secret"));
    }

    static List<Arguments> badValues() {
        return List.of(
            Arguments.of("stormplace.daemon.host", ""),
            Arguments.of("stormplace.daemon.host", 5),
            Arguments.of("stormplace.daemon.port", 0),
            Arguments.of("stormplace.daemon.port", 65_536),
            Arguments.of("stormplace.daemon.port", 7090.5),
            Arguments.of("stormplace.daemon.port", "7090"),
            Arguments.of("stormplace.daemon.port", Long.MAX_VALUE),
            Arguments.of("stormplace.daemon.deadline.ms", -1),
            Arguments.of("stormplace.daemon.deadline.ms", 600_000),
            Arguments.of("stormplace.zookeeper.root", "stormplace"),
            Arguments.of("stormplace.zookeeper.root", "/stormplace/"),
            Arguments.of("stormplace.zookeeper.root", "/"),
            Arguments.of("stormplace.fallback.scheduler", List.of()),
            Arguments.of("stormplace.mode", "Active"));
    }

    @ParameterizedTest
    @MethodSource("badValues")
    void aBadValueIsNamedAndTheDefaultUsed(String key, Object value) {
        ShimSettings defaults = ShimSettings.read(Map.of());
        ShimSettings settings = ShimSettings.read(Map.of(key, value));
        assertEquals(1, settings.faults().size());
        assertTrue(settings.faults().get(0).startsWith(key + " is " + value + ", expected "), settings.faults().get(0));
        assertEquals(defaults, new ShimSettings(settings.daemonHost(), settings.daemonPort(), settings.deadlineMs(),
            settings.zookeeperRoot(), settings.zookeeperAuth(),
            settings.fallbackScheduler(), settings.mode(), List.of()));
    }

    @Test
    void allFaultsAreFoundAtOnceAndUnknownKeysAreAmongThem() {
        Map<String, Object> conf = new HashMap<>();
        conf.put("stormplace.deamon.host", "x");
        conf.put("stormplace.mode", "off");
        conf.put("stormplace.daemon.port", "x");
        List<String> faults = new ArrayList<>(ShimSettings.read(conf).faults());
        assertEquals(3, faults.size(), faults.toString());
        assertTrue(faults.get(0).startsWith("stormplace.deamon.host is not a key"), faults.toString());
    }
}
