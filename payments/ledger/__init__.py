"""Double entry: which accounts each movement of money touches; written in the statement of the change itself."""
