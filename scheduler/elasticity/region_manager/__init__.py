"""Region managers (paper 004): each asks for hosts of its site, or for giving some back."""
