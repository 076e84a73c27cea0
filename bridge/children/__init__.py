"""Child processes that can be killed while a solver runs in them."""
