"""Emptying hosts for maintenance: `drain` and `undrain`."""
