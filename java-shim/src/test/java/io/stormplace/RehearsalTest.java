package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.wire.Supervisor;
import io.stormplace.wire.Topology;
import io.stormplace.wire.TopologyPlan;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.IScheduler;
import org.junit.jupiter.api.Test;

class RehearsalTest {
    /** Loads the shim's classes anew, so that it can be seen when each of them is loaded. */
    private static final class Recording extends ClassLoader {
        private final Set<String> loaded = new TreeSet<>();

        Recording() {
            super(Recording.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (!name.startsWith("io.stormplace.")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> known = findLoadedClass(name);
                return known == null ? define(name) : known;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream code = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = code.readAllBytes();
                loaded.add(name);
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Test
    void theMadeUpTopologyIsPlaced() throws Exception {
        Map<String, Verdict> verdicts = Rehearsal.play(Fixture.conf());

        assertEquals(Set.of("rehearsal"), verdicts.keySet());
        Verdict verdict = verdicts.get("rehearsal");
        assertEquals(Map.of(Fixture.slot("rehearsal", 6700), Fixture.executors(1, 2)), verdict.slots(), verdict.status());
    }

    @Test
    void whatARoundNeedsIsLoadedOnceTheSchedulerIsPrepared() throws Exception {
        Recording loader = new Recording();
        IScheduler scheduler =
            (IScheduler) loader.loadClass(PlacementScheduler.class.getName()).getConstructor().newInstance();
        scheduler.prepare(Fixture.conf(), new StormMetricsRegistry());
        scheduler.cleanup();

        for (Class<?> needed : Set.of(Fingerprint.class, Turns.class, SnapshotBuilder.class, ComponentGraph.class, Resources.class,
            PlanValidator.class, PlanApplier.class, Topology.class, Supervisor.class, TopologyPlan.class)) {
            assertTrue(loader.loaded.contains(needed.getName()), needed.getName());
        }
    }
}
