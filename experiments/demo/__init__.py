"""The demo: one query, one emulated wide area, three schedulers, side by side."""
