"""This package decides which published readings are believed, and why the others are not."""
