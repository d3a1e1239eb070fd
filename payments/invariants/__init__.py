"""Invariants of the money, which hold at every moment: one query each, which finds the rows that break it."""
