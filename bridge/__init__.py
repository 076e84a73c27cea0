"""Between Storm and the decision core: wire contract, problems, slots, daemon and records."""
