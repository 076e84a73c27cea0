"""Exact placement where streams flow over links: all that paper 002 weighs and limits."""
