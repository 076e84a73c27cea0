"""The exact solver: placements that are proved optimal, and bounds for those that are not."""
