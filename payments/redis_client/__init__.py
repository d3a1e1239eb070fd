"""Rate counters in Redis, and their pipeline."""
