"""Rate counters in Redis, their pipeline, and circuit breakers."""
