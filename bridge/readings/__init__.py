"""Published readings: which are believed, and why the others are not."""
