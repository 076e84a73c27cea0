package io.stormplace.largeclusters;

import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/** Processor time of the daemon and its children, in steps of the kernel's clock tick (10 ms). */
final class ProcessorTime {
    private final Optional<ProcessHandle> daemon;

    /**
     * Finds the process.
     *
     * @param pid process id of the daemon; 0 where none takes part, whose processor time is 0
     */
    ProcessorTime(long pid) {
        daemon = ProcessHandle.of(pid);
    }

    /** Whether a daemon takes part. */
    boolean measured() {
        return daemon.isPresent();
    }

    /** Seconds since its start. */
    double seconds() {
        return daemon.stream().flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
            .flatMap(process -> process.info().totalCpuDuration().stream()).mapToLong(Duration::toNanos).sum() / 1e9;
    }
}
