"""Key rotation while the service runs: it blocks no request, and may be interrupted and started again.

Data keys are wrapped again by the newest key-encryption key; or they are retired, their values are sealed with new
data keys, and the old ones are destroyed.
"""

from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet

from payments import clock, vault
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.maintenance import reseal
from payments.domain.maintenance.data_keys import all_wrapped_keys, usable_keys
from payments.models import DataKey
from payments.vault import WrappedKey

# A request may still write a value sealed with a key that was just retired, or open one that it read before it was
# sealed again; no statement and no wait for a row takes longer.
IN_FLIGHT = timedelta(seconds=60)
SEALING_ENDS_AFTER = timedelta(seconds=vault.SEALING_SECONDS) + IN_FLIGHT


@transaction.atomic
def retire_data_keys() -> int:
    """Retire every data key, unless retired ones are not destroyed yet; return how many were retired.

    The next value to be sealed gets a new key. Keys of CVCs are not retired, because they live for an hour only.
    """
    if retired().exists():
        return 0
    count = DataKey.objects.filter(retired_at__isnull=True).update(retired_at=clock.now())
    audit_log.record(Action.CHANGED, detail=f"data keys: {count} retired")
    vault.forget_sealing_keys()
    return count


def rewrap_data_keys() -> Iterator[WrappedKey]:
    """Wrap each data key by the newest key-encryption key, and yield it. Raises VaultUnavailable, VaultError."""
    for key in all_wrapped_keys():
        fresh = vault.rewrap(key)
        # A key that was destroyed meanwhile stays destroyed.
        usable_keys(key.purpose).filter(id=key.id, wrapped=key.wrapped).update(kek=fresh.kek, wrapped=fresh.wrapped)
        yield fresh


def finish() -> int:
    """Advance the destruction of retired data keys; return how many were destroyed. Raises VaultUnavailable.

    A key is destroyed when no process can still seal with it, no value sealed with it is left, and every request that
    may have read such a value has ended.
    """
    due = retired().filter(retired_at__lte=clock.now() - SEALING_ENDS_AFTER)
    return sum(_advance(key) for key in due)


def retired() -> QuerySet[DataKey]:
    """Return the data keys that are retired and not destroyed yet."""
    return DataKey.objects.filter(retired_at__isnull=False, destroyed_at__isnull=True)


def _advance(key: DataKey) -> bool:
    """Move a retired key one step towards its destruction; return whether it was destroyed."""
    rows = retired().filter(id=key.id, emptied_at=key.emptied_at)
    if reseal.is_any_sealed_with(key):
        reseal.reseal_some()
        rows.update(emptied_at=None)
    elif key.emptied_at is None:
        rows.update(emptied_at=clock.now())
    elif key.emptied_at <= clock.now() - IN_FLIGHT:
        return bool(rows.update(wrapped=b"", destroyed_at=clock.now()))
    return False
