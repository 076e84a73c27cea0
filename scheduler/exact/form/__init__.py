"""A problem as classes of exchangeable operators, the form that the exact methods share."""
