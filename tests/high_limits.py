"""High decline limits, for tests that make many declines for another purpose."""

MANY_DECLINES = dict.fromkeys(("card", "address", "key", "merchant"), 1_000_000)
# The same as an environment variable.
MANY_DECLINES_TEXT = ",".join(f"{kind}={number}" for kind, number in MANY_DECLINES.items())
