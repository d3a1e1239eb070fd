"""Statements of our own bank accounts: read, and matched with payouts, bank files and what providers paid to us."""
