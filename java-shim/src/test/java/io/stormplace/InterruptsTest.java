package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import org.junit.jupiter.api.Test;

class InterruptsTest {
    @Test
    void anInterruptIsFoundThroughEveryWrapper() {
        assertTrue(Interrupts.caused(new InterruptedException()));
        assertTrue(Interrupts.caused(new RuntimeException(new IOException(new ClosedByInterruptException()))));
        assertFalse(Interrupts.caused(new RuntimeException(new IOException("interrupted"))));
    }

    @Test
    void aCircleOfCausesHasAnEnd() {
        Exception first = new Exception();
        first.initCause(new Exception(first));
        assertFalse(Interrupts.caused(first));
    }
}
