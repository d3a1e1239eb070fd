"""The charges of `textbook`, with a provider, and with a ledger, events and an outbox beside them."""
