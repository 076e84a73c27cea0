"""The decision core: problem model, objective and strategies. Pure: no clock, file or network."""
