from datetime import timedelta
from enum import StrEnum


class Purpose(StrEnum):
    """What a data key seals; no key seals two kinds of things."""

    CARD = "card"
    SECRET = "secret"  # nosec B105 # what a key is for
    CVC = "cvc"

    @property
    def seals_for(self) -> timedelta:
        """How long a key seals new values before another one takes over; it opens what it sealed as long as it is kept.

        AES-GCM with random nonces is safe for 2^32 values under one key (NIST SP 800-38D, 8.3), which 30 days reach
        at more than 1600 values a second, without a pause.
        """
        return timedelta(minutes=10) if self is Purpose.CVC else timedelta(days=30)
