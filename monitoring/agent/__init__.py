"""The agent on a supervisor host: probes, coordinates, availability, load."""
