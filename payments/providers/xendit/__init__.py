"""Xendit, Payments API v3 and Payouts API v2. Status: contract-tested, not run against the provider."""
