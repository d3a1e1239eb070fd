"""Customers and their cards that come from another provider, and those that leave."""
