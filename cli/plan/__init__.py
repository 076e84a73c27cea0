"""A look at what a plan would do: `plan`."""
