"""A real Storm cluster on one machine, its hosts apart by emulated wide-area delays."""
