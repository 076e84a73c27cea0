"""What placements are worth: of one, of many, and after each possible move."""
