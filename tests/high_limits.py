"""High decline limits, for tests that make many declines for another purpose, and rights that are never new."""

from datetime import timedelta

MANY_DECLINES = dict.fromkeys(("card", "address", "key", "merchant"), 1_000_000)
# The same as an environment variable.
MANY_DECLINES_TEXT = ",".join(f"{kind}={number}" for kind, number in MANY_DECLINES.items())
# How long rights are new: not for those who approve in a test.
NOBODY_IS_NEW = timedelta(days=-36_500)
