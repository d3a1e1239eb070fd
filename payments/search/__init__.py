"""The search of the back office: what objects are found by, and what an operator types."""
