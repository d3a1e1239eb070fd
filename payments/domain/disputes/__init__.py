"""Disputes: what a payer's bank takes back, and what comes of it."""
