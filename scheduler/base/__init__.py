"""Ground of the decision core: arrays, checks of values, stop criteria, graphs."""
