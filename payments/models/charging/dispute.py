"""Disputes of charges, as the payer's bank makes them and providers report them."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fast_model import FastModel
from payments.db.fields import OwnForeignKey
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.charging.charge import Charge
from payments.models.merchants.merchant import Merchant

WHY_MAX_LENGTH = 300


class Dispute(FastModel):
    """A dispute of a charge. Only `payments.domain.disputes.record` changes it, and only to a further stage."""

    class Status(models.TextChoices):
        WARNING = "warning", _("Warning")  # the bank asks; no money was taken
        NEEDS_RESPONSE = "needs_response", _("Needs response")
        UNDER_REVIEW = "under_review", _("Under review")
        WON = "won", _("Won")
        LOST = "lost", _("Lost")
        ACCEPTED = "accepted", _("Accepted")
        EXPIRED = "expired", _("Expired")

    class ResponseState(models.TextChoices):
        PENDING = "pending", _("Pending")  # a worker sends it
        SENT = "sent", _("Sent")  # the provider has it
        REFUSED = "refused", _("Refused")  # by the provider
        UNKNOWN = "unknown", _("Unknown")  # it was tried more than once, and may have reached the provider

    RESPONSES = (("evidence", _("evidence")), ("accept", _("accept")))
    # The others are its end, unless the bank disputes again.
    OPEN = (Status.WARNING, Status.NEEDS_RESPONSE, Status.UNDER_REVIEW)

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    charge = OwnForeignKey(Charge, models.PROTECT, related_name="disputes", db_index=False)
    # The provider's name of the dispute, and the card network's.
    provider_ref = models.CharField(max_length=255)
    network_ref = models.CharField(_("network ref"), max_length=255, blank=True, default="")
    # As the stage says that moved money first: it may be more than was captured, or in another currency.
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    # How much of the charge's money the payer's bank has by our books, and the amount of each stage that moved some, in
    # the charge's currency.
    amount_withdrawn = models.BigIntegerField(default=0)
    stage_amounts = models.JSONField(default=dict)
    # The merchant's, while the payer's bank has the money; in the charge's currency.
    fee = models.BigIntegerField(default=0)
    reason = models.CharField(max_length=30)
    network_code = models.CharField(_("network code"), max_length=40, blank=True, default="")
    # The furthest stage that was reported (`payments.providers.disputes.Stage`), the furthest that moved money, and
    # what follows from them.
    stage = models.PositiveSmallIntegerField()
    money_stage = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=14, choices=Status.choices)
    # Whether the payer's bank has the money, or a part of it.
    withdrawn = models.BooleanField()
    evidence_due_at = models.DateTimeField(null=True, blank=True)
    # What the merchant does about it, and whether the provider has that: "" for nothing yet.
    response = models.CharField(_("response"), max_length=8, blank=True, default="", choices=RESPONSES)
    response_state = models.CharField(max_length=7, blank=True, default="", choices=ResponseState.choices)
    responded_at = models.DateTimeField(null=True, blank=True)
    # When a worker sends a pending response next, and how often one has tried; then why the provider does not have it.
    response_due_at = models.DateTimeField(null=True, blank=True)
    response_tries = models.PositiveSmallIntegerField(default=0)
    response_why = models.CharField(max_length=WHY_MAX_LENGTH, blank=True, default="")
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = ScopedQuerySet["Dispute"].as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("dispute"), _("disputes")
        default_permissions = ("view",)
        permissions = [
            ("respond_dispute", "Can add and submit evidence"),
            ("accept_dispute", "Can accept the loss of disputes"),
        ]
        constraints = [
            models.UniqueConstraint(F("charge"), F("provider_ref"), name="dispute_once_per_charge"),
            *checks(
                dispute_amount_positive=Q(amount__gte=1, amount_withdrawn__gte=0, fee__gte=0),
                # One that is won may have given back a part.
                dispute_money_follows_status=Q(status="warning", withdrawn=False)
                | Q(status="lost", withdrawn=True)
                | Q(status__in=["needs_response", "under_review", "won", "accepted", "expired"]),
                dispute_money_is_withdrawn=Q(withdrawn=True) | Q(amount_withdrawn=0),
                dispute_response_is_whole=Q(response="", response_state="", responded_at__isnull=True)
                | Q(
                    response__in=["evidence", "accept"],
                    response_state__in=["pending", "sent", "refused", "unknown"],
                    responded_at__isnull=False,
                ),
                dispute_pending_response_is_due=Q(response_state="pending", response_due_at__isnull=False)
                | ~Q(response_state="pending") & Q(response_due_at__isnull=True),
            ),
        ]
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("id"), name="dispute_of_merchant"),
            models.Index(F("merchant"), F("livemode"), F("status"), F("id"), name="dispute_in_status"),
            models.Index(
                F("evidence_due_at"),
                F("id"),
                name="dispute_to_answer",
                condition=Q(status__in=["warning", "needs_response"]),
            ),
            models.Index(F("response_due_at"), name="dispute_response_due", condition=Q(response_due_at__isnull=False)),
        ]

    __str__ = ids.shown_as("dp")
