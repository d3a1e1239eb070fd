"""Checkouts: an amount that one payer pays once, on a page of ours."""

from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import RowRules, one_of
from payments.db.fast_model import FastModel
from payments.db.fields import OwnForeignKey, VerbatimJSONField
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.charging.charge import AMOUNT_MAX, Charge
from payments.models.checkout.payment_link import PaymentLink
from payments.models.merchants.merchant import Merchant

# How often a payer may try to pay one checkout.
ATTEMPTS_MAX = 20
# An address, or a network of IPv6.
RESERVED_BY_MAX_LENGTH = 49


class CheckoutQuerySet(ScopedQuerySet["Checkout"]):
    def whole(self, merchant_id: UUID | None = None) -> Self:
        """Return the checkouts with merchant, charges and what a request has of its own, as rendering needs them.

        A request names its `merchant_id`, so that an engine that shards by merchant asks one server for the charges.
        """
        own = {"merchant_id": merchant_id} if merchant_id else {}
        paying = Charge.objects.whole().filter(**own).exclude(status=Charge.Status.FAILED)
        charges = models.Prefetch("charges", paying, to_attr="charge_list")
        return self.select_related("merchant", "request").prefetch_related(charges)

    def requests(self) -> Self:
        """Return the payment requests: they alone have no time to end."""
        return self.filter(expires_at__isnull=True)


# Over, and never charged: nobody tried to pay it, or it only kept a card.
WITHOUT_CHARGE = Q(attempts=0, state="expired") | Q(mode="save_card", state__in=["expired", "paid"])


class Checkout(FastModel):
    """An amount to be paid once: a checkout session, or a payment of a link or of a payment request.

    Its charges refer to it. One of them at most has not failed (`one_payment_per_checkout`).
    """

    class Kind(models.TextChoices):
        SESSION = "session", _("Session")
        LINK = "link", _("Link")
        REQUEST = "request", _("Request")

    class Mode(models.TextChoices):
        PAYMENT = "payment", _("Payment")
        SETUP = "setup", _("Setup")  # the card is held, to be captured by a program
        SUBSCRIPTION = "subscription", _("Subscription")  # the card is charged, and kept for the customer
        SAVE_CARD = "save_card", _("Save card")  # the card is kept for the customer, and nothing is charged

    class State(models.TextChoices):
        UNPAID = "unpaid", _("Unpaid")
        PAYING = "paying", _("Paying")  # the outcome of a charge is open; the API says `unpaid`
        AUTHORIZED = "authorized", _("Authorized")
        PAID = "paid", _("Paid")
        VOIDED = "voided", _("Voided")
        EXPIRED = "expired", _("Expired")

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    kind = models.CharField(_("kind"), max_length=7, choices=Kind.choices, default=Kind.SESSION)
    mode = models.CharField(max_length=12, choices=Mode.choices, default=Mode.PAYMENT)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.UNPAID)
    # The total of the items, in the smallest unit of `currency`, which is upper case here; 0 where a card is only kept.
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    # The members of the request that made it, validated, with their defaults; `currency` as it was sent.
    order = VerbatimJSONField()
    # What the payer gave on the page: `name`, `email`, `phone`, `billing`, `shipping`.
    payer = VerbatimJSONField(default=dict)
    client_reference_id = models.CharField(_("client reference id"), max_length=255, blank=True, default="")
    # The customer whose data fill the form, or for whom the card is kept.
    customer_id = models.UUIDField(null=True, blank=True)
    # How often a payer tried to pay it.
    attempts = models.SmallIntegerField(_("attempts"), default=0)
    # In mode `save_card`, the source whose card was checked last, and the account of its provider, if any.
    check_source_id = models.UUIDField(null=True, blank=True)
    check_account_id = models.UUIDField(null=True, blank=True)
    # While the check is under way: when its outcome is looked up next, and the issuer's page for its payer, if any.
    check_due_at = models.DateTimeField(null=True, blank=True)
    check_url = models.TextField(blank=True, default="")
    # Why the card was not kept, as `failure_data` says it.
    check_code = models.CharField(max_length=30, blank=True, default="")
    # The link that it pays, the edition of the link's items, and how many of each were bought; empty for other kinds.
    link = OwnForeignKey(PaymentLink, models.PROTECT, null=True, blank=True, related_name="checkouts", db_index=False)
    edition = models.IntegerField(null=True, blank=True)
    quantities = ArrayField(models.IntegerField(), null=True, blank=True)
    # While a payment of a link is under way: the address of the payer who reserves the items, as it is counted.
    reserved_by = models.CharField(max_length=RESERVED_BY_MAX_LENGTH, blank=True, default="")
    # Empty for a request, which waits until it is paid or voided.
    expires_at = models.DateTimeField(null=True, blank=True)
    # Counts the changes that an event shows: the sequence of the last event.
    version = models.IntegerField(default=1)
    # When it was paid, voided, or its time was over.
    ended_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = CheckoutQuerySet.as_manager()
    # Set by `whole()`, or directly for a new checkout: the charge that has not failed, if there is one.
    charge_list: list[Charge]

    class Meta:
        verbose_name, verbose_name_plural = _("checkout"), _("checkouts")
        default_permissions = ("view",)
        permissions = [
            ("expire_checkout", "Can expire checkout"),
            ("void_checkout", "Can void checkout"),
            ("resend_checkout", "Can resend checkout"),
        ]
        constraints = [
            RowRules(
                name="checkout_follows_rules",
                rules={
                    "checkout_state_is_known": Q(
                        state__regex=one_of("unpaid", "paying", "authorized", "paid", "voided", "expired")
                    ),
                    "checkout_amount_in_bounds": Q(mode="save_card", amount=0)
                    | ~Q(mode="save_card") & Q(amount__gte=1, amount__lte=AMOUNT_MAX),
                    "checkout_attempts_in_bounds": Q(attempts__gte=0, attempts__lte=ATTEMPTS_MAX),
                    "checkout_held_only_for_setup": Q(mode="setup") | ~Q(state="authorized"),
                    "checkout_session_voided_only_if_held": Q(mode="setup") | Q(kind="request") | ~Q(state="voided"),
                    "checkout_checks_only_cards_to_keep": Q(check_due_at__isnull=True, check_url="")
                    & ~Q(mode="save_card", state="paying")
                    | Q(mode="save_card", state="paying", check_code="")
                    & Q(check_due_at__isnull=False, check_source_id__isnull=False),
                    "checkout_open_has_no_end": Q(ended_at__isnull=True)
                    | Q(state__regex=one_of("paid", "voided", "expired")),
                    "checkout_keeps_cards_only_of_sessions": Q(kind="session") | Q(mode="payment"),
                    "checkout_of_link_says_what_was_bought": Q(
                        kind="link", link__isnull=False, edition__isnull=False, quantities__isnull=False
                    )
                    | ~Q(kind="link") & Q(link__isnull=True),
                    "checkout_ends_unless_request": Q(kind="request", expires_at__isnull=True)
                    | ~Q(kind="request") & Q(expires_at__isnull=False),
                },
            ),
        ]
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("kind"), F("id"), name="checkout_of_merchant"),
            models.Index(
                *map(F, ("merchant", "livemode", "kind", "state", "id")),
                name="request_by_state",
                # As `requests` says: a plan for all values does not know the kind that is asked for.
                condition=Q(expires_at__isnull=True),
            ),
            models.Index(F("expires_at"), name="checkout_due", condition=Q(state__in=["unpaid", "paying"])),
            models.Index(F("link"), F("id"), name="checkout_of_link", condition=Q(link__isnull=False)),
            models.Index(
                *(F("merchant"), F("link")),
                name="checkout_under_way_of_link",
                condition=Q(link__isnull=False, state__in=["unpaid", "paying"]),
            ),
            models.Index(F("check_due_at"), name="checkout_check_due", condition=Q(check_due_at__isnull=False)),
            models.Index(F("check_source_id"), name="checkout_checked", condition=Q(check_source_id__isnull=False)),
            # Finds what is deleted in the end.
            models.Index(
                F("id"),
                name="checkout_without_charge",
                condition=WITHOUT_CHARGE,
            ),
        ]

    def __str__(self) -> str:
        return ids.public_id(PREFIXES[Checkout.Kind(self.kind)], self.id)

    @property
    def addressee(self) -> str:
        """The name of a request's customer; their address, where the name was only made of its beginning."""
        name, email = (self.order.get(f"customer_{part}") or "" for part in ("name", "email"))
        return email if name == email.partition("@")[0] else name

    @property
    def paid_by(self) -> Charge | None:
        """The charge that paid or holds the amount; None before, and where a card is only kept."""
        is_open = self.state in (Checkout.State.UNPAID, Checkout.State.PAYING, Checkout.State.EXPIRED)
        return None if is_open else next(iter(self.charge_list), None)


# How the IDs begin that merchants see of each kind.
PREFIXES = {Checkout.Kind.SESSION: "cs", Checkout.Kind.LINK: "cs", Checkout.Kind.REQUEST: "pr"}
