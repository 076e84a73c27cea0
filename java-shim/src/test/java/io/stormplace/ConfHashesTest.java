package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.HashMap;
import java.util.Map;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.junit.jupiter.api.Test;

/** A configuration is hashed when its map is seen first, and whenever another map takes its place. */
class ConfHashesTest {
    private final ConfHashes hashes = new ConfHashes();

    /** A configuration that counts how often it is hashed. */
    private static final class Conf extends HashMap<String, Object> {
        private static final long serialVersionUID = 1L;
        private int hashed;

        Conf(Object... keysAndValues) {
            super(Fixture.conf(keysAndValues));
        }

        @Override
        public int hashCode() {
            hashed++;
            return super.hashCode();
        }

        @Override
        public boolean equals(Object other) {
            return super.equals(other);
        }
    }

    /** Nimbus describes each topology anew in each round, with the configuration that it keeps. */
    private Map<String, Integer> round(Map<String, Conf> confs) {
        Map<String, TopologyDetails> topologies = new HashMap<>();
        confs.forEach((id, conf) -> topologies.put(id,
            new TopologyDetails(id, conf, Fixture.wordCount(), 1, Map.of(new ExecutorDetails(1, 1), "words"), "owner")));
        Topologies all = new Topologies(topologies);
        Map<String, Integer> found = new HashMap<>();
        all.forEach(topology -> found.put(topology.getId(), hashes.of(topology)));
        hashes.retain(all);
        return found;
    }

    @Test
    void theSameMapIsHashedOnce() {
        Conf conf = new Conf();
        Map<String, Integer> first = round(Map.of("t", conf));
        assertEquals(Map.of("t", Fixture.conf().hashCode()), first);
        assertEquals(first, round(Map.of("t", conf)));
        assertEquals(1, conf.hashed);
    }

    @Test
    void anotherMapIsHashedAnewAlsoIfItIsEqual() {
        Map<String, Integer> first = round(Map.of("t", new Conf()));
        Conf equal = new Conf();
        assertEquals(first, round(Map.of("t", equal)));
        assertEquals(1, equal.hashed);
        assertNotEquals(first, round(Map.of("t", new Conf("topology.stormplace.frozen", true))));
    }

    @Test
    void whatIsGoneIsForgotten() {
        Conf conf = new Conf();
        round(Map.of("t", conf));
        assertEquals(Map.of(), round(Map.of()));
        round(Map.of("t", conf));
        assertEquals(2, conf.hashed);
    }
}
