"""What several packages write and read: one definition of each. Imports no other package of the project."""
