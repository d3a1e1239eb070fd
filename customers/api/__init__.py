"""The way in to customers, below `/v2`."""
