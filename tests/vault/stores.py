"""A data key store in memory, and a clock that a test moves."""

from datetime import datetime
from uuid import UUID

from payments.vault import Purpose, WrappedKey


class MemoryStore:
    """A store of data keys that counts how often it is asked for one."""

    def __init__(self) -> None:
        self.keys: list[WrappedKey] = []
        self.asked = 0

    def newest(self, purpose: Purpose, since: datetime) -> WrappedKey | None:
        self.asked += 1
        found = [key for key in self.keys if key.purpose == purpose and key.created_at > since]
        return found[-1] if found else None

    def find(self, purpose: Purpose, key_id: UUID) -> WrappedKey | None:
        self.asked += 1
        return next((key for key in self.keys if (key.purpose, key.id) == (purpose, key_id)), None)

    def keep(self, key: WrappedKey, since: datetime) -> WrappedKey:
        first = self.newest(key.purpose, since)
        if first is None:
            self.keys.append(key)
        return first or key


class Timer:
    """A clock in seconds that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds
