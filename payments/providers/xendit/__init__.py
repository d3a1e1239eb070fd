"""Xendit, Payments API v3. Status: contract-tested, not run against the provider."""
