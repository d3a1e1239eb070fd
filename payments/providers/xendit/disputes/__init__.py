"""Disputes by Xendit's Disputes API v1, as its documents of September 2026 describe it: contract-tested, not run.

What they leave open, and what is done about it: `payments/providers/CONNECTORS.md`.
"""
