"""What managers that learn have in common: transition counts, monotone estimates, greedy choices."""
