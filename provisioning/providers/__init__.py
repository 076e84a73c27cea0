"""Where hosts come from: one interface, and what stands behind it."""
