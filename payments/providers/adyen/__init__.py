"""Adyen's Checkout API, version 72. Contract-tested, not run against the provider."""
