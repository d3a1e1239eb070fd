"""Sources, charges and idempotency keys."""
