"""The strategies, one per file; `scheduler.registry` lists them."""
