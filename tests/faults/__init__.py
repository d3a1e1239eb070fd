"""Processes that die at every step and connections that are cut in every way, and what the books say afterwards."""
