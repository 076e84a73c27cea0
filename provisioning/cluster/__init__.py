"""Storm's cluster as the loop sees it and changes it."""
