from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks
from payments.models.merchants.merchant import Merchant


class MoneyCheckQuerySet(models.QuerySet["MoneyCheck"]):
    def newest_whole(self) -> "MoneyCheck | None":
        """Return the last finished run of all invariants for all merchants."""
        return self.filter(whole=True, finished_at__isnull=False).order_by("-id").first()


class MoneyCheck(models.Model):
    """One run of the invariants, and which of them failed."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # Whether it checked all invariants for all merchants; only such a run raises or clears the alert.
    whole = models.BooleanField()
    # The only merchant whose objects it checked; empty for all.
    merchant = models.ForeignKey(Merchant, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    # The names of the invariants.
    invariants = models.JSONField()
    # For each that failed: name, sentence, model, number of violations, and the public IDs of some.
    failures = models.JSONField(default=list, blank=True)
    started_at = models.DateTimeField(default=clock.now, editable=False)
    # Empty while it runs, and after its process died.
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = MoneyCheckQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        constraints = checks(
            money_check_fails_at_its_end=Q(finished_at__isnull=False) | Q(failures=[]),
            money_check_whole_is_of_everybody=Q(whole=False) | Q(merchant__isnull=True),
        )
        indexes = [
            models.Index(F("id"), name="money_check_newest_whole", condition=Q(whole=True, finished_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"money check {self.id.hex}"

    @property
    def seconds(self) -> float | None:
        """The duration; None for an unfinished run."""
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else None
