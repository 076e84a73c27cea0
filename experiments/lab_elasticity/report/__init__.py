"""What the experiment on elasticity shows: figures, goals and pictures."""
