from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks


class WrappedKeyRow(models.Model):
    """A data key, wrapped by the key-encryption key named `kek`, which no table holds."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    kek = models.CharField(max_length=200)
    wrapped = models.BinaryField()
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        abstract = True


class DataKey(WrappedKeyRow):
    """A key that encrypts card numbers or signing secrets until it is retired; they are then encrypted anew."""

    class Purpose(models.TextChoices):
        CARD = "card"
        SECRET = "secret"  # nosec B105 # what the key is for

    purpose = models.CharField(max_length=6, choices=Purpose.choices)
    retired_at = models.DateTimeField(null=True, blank=True)
    # When no value was found that it had encrypted; processes that had read one before have decrypted it by now.
    emptied_at = models.DateTimeField(null=True, blank=True)
    destroyed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = checks(
            data_key_purpose_is_known=Q(purpose__in=["card", "secret"]),
            data_key_retired_before_emptied=Q(emptied_at__isnull=True) | Q(retired_at__isnull=False),
            data_key_emptied_before_destroyed=Q(destroyed_at__isnull=True) | Q(emptied_at__isnull=False),
            data_key_is_wrapped_until_destroyed=(Q(destroyed_at__isnull=True) & ~Q(wrapped=b""))
            | (Q(destroyed_at__isnull=False) & Q(wrapped=b"")),
        )
        indexes = [models.Index(F("purpose"), F("created_at").desc(), name="data_key_newest")]

    def __str__(self) -> str:
        return f"{self.purpose} key of {self.created_at:%Y-%m-%d}"


class CvcKey(WrappedKeyRow):
    """A key that encrypts the CVCs of ten minutes, and is deleted when the last of them expires.

    The table is UNLOGGED: it is never in the write-ahead log, on a standby or in a base backup, and a crash of the
    server empties it. CVCs in any copy of the cards cannot be decrypted without it.
    """

    def __str__(self) -> str:
        return f"CVC key of {self.created_at:%Y-%m-%d %H:%M}"
