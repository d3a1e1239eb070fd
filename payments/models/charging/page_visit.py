from django.db import models
from django.db.models import F, Q

from payments.db.checks import checks
from payments.db.fields import OwnForeignKey
from payments.models.charging.charge import Charge
from payments.models.merchants.merchant import Merchant

ADDRESS_MAX_LENGTH = 45
BROWSER_MAX_LENGTH = 20


class PageVisit(models.Model):
    """The visits of a payer's browser to one of a charge's pages, counted, because waiting pages reload."""

    class Page(models.TextChoices):
        ASKED = "asked", "Was asked to confirm"
        DECIDED = "decided", "Decided"
        CAME_BACK = "came_back", "Came back"

    # The charge's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    charge = OwnForeignKey(Charge, models.PROTECT, related_name="page_visits", db_index=False)
    page = models.CharField(max_length=9, choices=Page.choices)
    # The client's address, and the family of the browser, such as "Firefox".
    address = models.CharField(max_length=ADDRESS_MAX_LENGTH, blank=True)
    browser = models.CharField(max_length=BROWSER_MAX_LENGTH)
    times = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                *(F("charge"), F("merchant"), F("page"), F("address"), F("browser")),
                name="page_visits_are_counted_once",
            ),
            *checks(
                page_visit_happened=Q(times__gte=1, last_at__gte=F("first_at")),
            ),
        ]
        indexes = [models.Index(F("last_at"), name="page_visit_age")]

    def __str__(self) -> str:
        return f"{self.page} {self.charge_id.hex}"
