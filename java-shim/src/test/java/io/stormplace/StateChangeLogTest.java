package io.stormplace;

import static io.stormplace.StateChangeLog.Subject.DAEMON;
import static io.stormplace.StateChangeLog.Subject.READINGS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StateChangeLogTest {
    private final List<String> warnings = new ArrayList<>();
    private final StateChangeLog log = new StateChangeLog((message, cause) -> warnings.add(message));

    @Test
    void aLastingFaultIsOneWarning() {
        for (int round = 0; round < 30; round++) {
            log.bad(DAEMON, "absent", "gone");
        }
        assertEquals(List.of("gone"), warnings);
    }

    @Test
    void everyChangeIsOneWarningAndSoIsRecovery() {
        log.good(DAEMON, "there");
        log.bad(DAEMON, "absent", "gone");
        log.bad(DAEMON, "slow", "slow");
        log.good(DAEMON, "back");
        log.good(DAEMON, "still there");
        log.bad(DAEMON, "absent", "gone again");
        assertEquals(List.of("gone", "slow", "back", "gone again"), warnings);
    }

    @Test
    void subjectsDoNotHideEachOther() {
        log.bad(DAEMON, "absent", "daemon");
        log.bad(READINGS, "absent", "readings");
        log.good(READINGS, "readings back");
        log.bad(DAEMON, "absent", "daemon");
        assertEquals(List.of("daemon", "readings", "readings back"), warnings);
    }
}
