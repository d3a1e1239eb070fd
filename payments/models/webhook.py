from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fast_model import FastModel
from payments.db.fields import OwnForeignKey
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.event import Event
from payments.models.merchants.merchant import Merchant
from payments.models.merchants.webhook_endpoint import WebhookEndpoint

RECEIVER_MAX_LENGTH = 300


class WebhookQuerySet(ScopedQuerySet["Webhook"]):
    """Webhooks of one merchant in one mode."""


class Webhook(FastModel):
    """One event to be sent to the URL of its source, or to an endpoint; written in the transaction of the change.

    The tables of webhooks and of attempts have monthly partitions (`payments.db.partitions`).
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DELIVERED = "delivered", _("Delivered")
        EXHAUSTED = "exhausted", _("Exhausted")  # three days of attempts failed
        GONE = "gone", _("Gone")  # the receiver answered 410
        CANCELLED = "cancelled", _("Cancelled")  # its endpoint was disabled or deleted meanwhile

    # Of the millisecond of its event's, so that both are in the same month's partition.
    id = models.UUIDField(primary_key=True, editable=False)
    event = OwnForeignKey(Event, models.PROTECT, related_name="webhooks", db_constraint=False, db_index=False)
    # The index that begins with the merchant serves this key too.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    livemode = models.BooleanField()
    endpoint = models.ForeignKey(
        WebhookEndpoint, models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False, db_index=False
    )
    # Where it was sent last, or will be sent first.
    url = models.CharField(_("url"), max_length=2083)
    # What shares one queue and one limit of tries under way, of one merchant in one mode: scheme://host:port of the
    # URL, or an endpoint, `we_…`, whose URL of the moment is called.
    receiver = models.CharField(_("receiver"), max_length=RECEIVER_MAX_LENGTH, db_collation="C")
    state = models.CharField(_("state"), max_length=9, choices=State.choices, default=State.WAITING)
    # All attempts made; the number of the last one.
    tries = models.PositiveIntegerField(_("tries"), default=0)
    # Failed attempts since it was first sent or sent again by hand: the position in the schedule.
    failures = models.PositiveIntegerField(_("failures"), default=0)
    first_try_at = models.DateTimeField(null=True, blank=True)
    # When the next try is due; empty when no other is to be made.
    due_at = models.DateTimeField(null=True, blank=True, default=clock.now)
    # One worker has claimed it until then; afterwards that worker counts as dead.
    leased_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("webhook"), _("webhooks")
        constraints = checks(
            webhook_waiting_has_due_at=Q(state="waiting", due_at__isnull=False)
            | Q(
                state__in=["delivered", "exhausted", "gone", "cancelled"],
                due_at__isnull=True,
                leased_until__isnull=True,
            ),
        )
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("id"), name="webhook_of_merchant"),
            # Merchants first, then their receivers: claims jump from one to the next.
            models.Index(
                F("merchant"),
                F("livemode"),
                F("receiver"),
                F("due_at"),
                F("id"),
                name="webhook_due_of_receiver",
                condition=Q(due_at__isnull=False),
            ),
            models.Index(F("id"), name="webhook_given_up", condition=Q(state__in=["exhausted", "gone"])),
        ]

    def __str__(self) -> str:
        return f"{ids.public_id('evt', self.event_id)} to {self.receiver}"


class WebhookAttempt(models.Model):
    """One attempt to deliver a webhook and its result; the database refuses to change it."""

    # The primary key in the database is the webhook with the number; the `id` is for Django alone.
    webhook = OwnForeignKey(Webhook, models.PROTECT, related_name="attempts", db_constraint=False, db_index=False)
    # The webhook's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    # From 1 without gaps for each webhook.
    number = models.PositiveIntegerField(_("number"))
    started_at = models.DateTimeField()
    milliseconds = models.PositiveIntegerField()
    # What was answered; empty where nothing was.
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    # The headers of the answer that `payments.webhooks.transport.results` keeps, and its first bytes, 2 KiB at most.
    headers = models.TextField(blank=True, default="")
    answer = models.BinaryField(max_length=2048, default=b"")
    # The class of what went wrong, such as "timeout", where nothing was answered; and a line more for operators.
    error = models.CharField(max_length=60, blank=True, default="")
    reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        verbose_name, verbose_name_plural = _("webhook attempt"), _("webhook attempts")
        constraints = [
            models.UniqueConstraint(F("webhook"), F("number"), name="attempt_number_once_per_webhook"),
            *checks(
                attempt_was_answered_or_failed=Q(status__isnull=False, error="")
                | Q(status__isnull=True) & ~Q(error=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}"
