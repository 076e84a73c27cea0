"""What several packages write and read: one definition of each, on the standard library alone."""
