package io.stormplace;

import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/** Prints the seed of the tests' order once, so that an order that fails can be run again. */
public final class SeedReport implements TestExecutionListener {
    private static boolean printed;

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        plan.getConfigurationParameters().get("junit.jupiter.execution.order.random.seed").ifPresent(seed -> {
            if (!printed) {
                printed = true;
                System.out.println("Random order of the tests; run it again with -Dtest.seed=" + seed);
            }
        });
    }
}
