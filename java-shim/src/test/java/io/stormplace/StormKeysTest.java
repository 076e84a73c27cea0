package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.junit.jupiter.api.Test;

/** The page on Storm's own keys leaves out none that a scheduler of Storm reads. */
class StormKeysTest {
    private static final Path PAGE = Path.of("..", "docs", "storm-keys.md");
    private static final Pattern OF_A_SCHEDULER = Pattern.compile(
        "topology\\.(ras|scheduler|component|acker|metrics\\.consumer\\.(cpu|resources)|spread|isolate|priority|workers|worker\\.max)\\b.*"
            + "|(resource\\.aware|isolation|multitenant)\\.scheduler\\..*|scheduler\\.config\\.loader\\.uri"
            + "|scheduling\\.timeout\\..*|supervisor\\.(cpu|memory|resources)\\b.*|storm\\.network\\.topography\\.plugin");

    @Test
    void everyKeyOfStormsSchedulersHasItsLine() throws Exception {
        String page = Files.readString(PAGE);
        Set<String> keys = keys(Config.class);
        keys.addAll(keys(DaemonConfig.class));
        assertFalse(keys.isEmpty());
        keys.removeIf(key -> page.contains("| `" + key + "` |"));
        assertEquals(Set.of(), keys);
    }

    private static Set<String> keys(Class<?> constants) throws IllegalAccessException {
        Set<String> found = new TreeSet<>();
        for (Field field : constants.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                String key = (String) field.get(null);
                if (OF_A_SCHEDULER.matcher(key).matches()) {
                    found.add(key);
                }
            }
        }
        return found;
    }
}
