"""What components do: counters and queues from the workers' reporters, and what still waits at the source."""
