"""The agent of a supervisor host: measures the network around it and publishes what it found."""
