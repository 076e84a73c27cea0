"""Any application of operators and streams as a topology: sources that are paced, sinks that measure."""
