"""Problems as documents, and generators of problems."""
