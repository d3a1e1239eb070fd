"""The search of the back office: what charges and customers are found by, and what an operator types."""
