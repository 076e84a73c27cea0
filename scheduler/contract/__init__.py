"""What strategies are given, what they return, and what they report meanwhile."""
