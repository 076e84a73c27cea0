"""Dynamic programming along chains of operators."""
