"""The record of rounds, and planning a recorded round again."""
