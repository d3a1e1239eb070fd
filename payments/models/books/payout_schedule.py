"""Where a merchant's balance is paid out to, and when."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import checks
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.merchants.merchant import Merchant
from payments.models.routing.provider_account import ProviderAccount

# A new bank account of live mode waits so long, so that a wrong change is noticed before money goes to it.
ACCOUNT_WAITS = timedelta(hours=24)


class PayoutAccountQuerySet(ScopedQuerySet["PayoutAccount"]):
    def in_effect(self, now: datetime) -> "PayoutAccountQuerySet":
        """Return the accounts that payouts may go to, the newest first: it is the one that they go to."""
        return self.filter(effective_at__lte=now, withdrawn_at__isnull=True).order_by("-effective_at", "-id")

    def waiting(self, now: datetime) -> "PayoutAccountQuerySet":
        """Return the accounts that take effect later, the next one first."""
        return self.filter(effective_at__gt=now, withdrawn_at__isnull=True).order_by("effective_at", "id")


class PayoutAccount(models.Model):
    """A merchant's bank account for payouts in one currency. It never changes: another one replaces it."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    currency = models.CharField(_("currency"), max_length=3)
    holder = models.CharField(_("holder"), max_length=70)
    # ISO 9362, and ISO 3166-1 alpha-2.
    bic = models.CharField(_("BIC"), max_length=11)
    country = models.CharField(_("country"), max_length=2)
    sealed_number = models.BinaryField()
    last4 = models.CharField(_("last4"), max_length=4)
    effective_at = models.DateTimeField()
    # Before it took effect: no payout goes to it.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)

    objects = PayoutAccountQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("payout account"), _("payout accounts")
        default_permissions = ("view", "add")
        permissions = [("withdraw_payoutaccount", "Can withdraw bank accounts that are not in effect yet")]
        constraints = checks(
            payout_account_withdrawn_before_its_effect=Q(withdrawn_at__isnull=True)
            | Q(withdrawn_at__lt=F("effective_at")),
            live_payout_account_waits_a_day=Q(livemode=False) | Q(effective_at__gte=F("created_at") + ACCOUNT_WAITS),
        )
        indexes = [
            models.Index(
                *(F("merchant"), F("livemode"), F("currency"), F("effective_at")), name="payout_account_in_effect"
            ),
            models.Index(F("effective_at"), name="payout_account_by_effect"),
        ]

    def __str__(self) -> str:
        return f"{self.holder}, ending in {self.last4}"

    @property
    def version(self) -> int:
        """Return the number of the last event: the account was added, and may have been withdrawn."""
        return 2 if self.withdrawn_at else 1


class PayoutSchedule(models.Model):
    """When a merchant's balance in one currency is paid out. Its row is locked while a payout is made."""

    class Interval(models.TextChoices):
        MANUAL = "manual", _("Manual")
        DAILY = "daily", _("Daily")
        WEEKLY = "weekly", _("Weekly")
        MONTHLY = "monthly", _("Monthly")

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    currency = models.CharField(_("currency"), max_length=3)
    interval = models.CharField(_("interval"), max_length=7, choices=Interval.choices)
    # Whole days from the end of a settlement's day until it is paid out.
    delay_days = models.PositiveSmallIntegerField(_("delay days"), default=0)
    reserve_percent = models.PositiveSmallIntegerField(_("reserve percent"), default=0)
    reserve_days = models.PositiveSmallIntegerField(_("reserve days"), default=0)
    # The account whose provider carries the payouts out; without one, live payouts go into bank files.
    provider_account = models.ForeignKey(
        ProviderAccount, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    next_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(default=clock.now)

    objects = ScopedQuerySet["PayoutSchedule"].as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("payout schedule"), _("payout schedules")
        default_permissions = ("view", "change")
        constraints = [
            models.UniqueConstraint(F("merchant"), F("livemode"), F("currency"), name="one_payout_schedule"),
            *checks(
                payout_schedule_runs_unless_manual=Q(interval="manual", next_at__isnull=True)
                | Q(interval__in=["daily", "weekly", "monthly"], next_at__isnull=False),
                payout_schedule_in_bounds=Q(delay_days__lte=90, reserve_percent__lte=99, reserve_days__lte=540)
                & (Q(reserve_percent=0, reserve_days=0) | Q(reserve_percent__gte=1, reserve_days__gte=1)),
            ),
        ]
        indexes = [models.Index(F("next_at"), name="payout_schedule_due", condition=Q(next_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.currency} {self.interval}"
