from django.db import models
from django.db.models import F, Q

from payments import clock, ids, sourcetypes
from payments.db.checks import RowRules, one_of
from payments.db.fast_model import FastModel
from payments.db.fields import OwnOneToOneField, VerbatimJSONField
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.merchants.merchant import Merchant

NETWORK_REFERENCE_MAX_LENGTH = 64
UNKNOWN = "unknown"
# The card schemes by their names in the API, as people write them.
BRANDS = {
    "visa": "Visa",
    "mastercard": "Mastercard",
    "jcb": "JCB",
    "amex": "Amex",
    "unionpay": "UnionPay",
    UNKNOWN: "Unknown card",
}
FUNDINGS = ("credit", "debit", "prepaid", UNKNOWN)


def brand_name(brand: str) -> str:
    """Return the name of a card scheme as people write it."""
    return BRANDS.get(brand, brand)


class Source(FastModel):
    """A card, wallet or bank account, usable once unless vaulted."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The index that begins with the merchant serves this key too.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    type = models.CharField(max_length=20)
    used = models.BooleanField(default=False)
    vaulted = models.BooleanField(default=False)
    # The customer for whom it is or was kept.
    customer_id = models.UUIDField(null=True, blank=True)
    redirect = VerbatimJSONField(null=True, blank=True)
    owner = VerbatimJSONField(null=True, blank=True)
    bank_account = VerbatimJSONField(null=True, blank=True)
    metadata = VerbatimJSONField(null=True, blank=True)
    # What the payer agreed to when it was kept: `text`, `at`, and `ip` and `user_agent` where they are known. It stays
    # after the source is detached, for disputes come months later.
    consent = VerbatimJSONField(null=True, blank=True)
    # Counts the changes, each of which writes one event: guard of every update, and the last event's sequence.
    version = models.IntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = ScopedQuerySet["Source"].as_manager()

    class Meta:
        constraints = [
            RowRules(
                name="source_follows_rules",
                rules={
                    "source_type_is_known": Q(type__regex=one_of(*sourcetypes.NAMES)),
                    "source_vaulted_is_used": Q(vaulted=False) | Q(used=True),
                    "source_version_not_negative": Q(version__gte=0),
                },
            ),
        ]
        indexes = [models.Index(F("merchant"), F("livemode"), F("id"), name="source_of_merchant")]

    __str__ = ids.shown_as("src")

    @property
    def payer_name(self) -> str:
        """Return the name of the payer as it was sent; empty where it was not."""
        owner, card = self.owner or {}, getattr(self, "card", None)
        names = (owner.get("name"), card.name if card else "", (owner.get("billing") or {}).get("name"))
        return next(filter(None, names), "")


class Card(FastModel):
    """The card of a source; number and CVC are encrypted, and deleted as soon as they are not needed."""

    class CvcChecked(models.TextChoices):
        PASS = "pass"  # nosec B105 # the contract's word for a check that was passed
        FAIL = "fail"
        UNAVAILABLE = "unavailable"
        UNCHECKED = "unchecked"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The source's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    source = OwnOneToOneField(Source, models.CASCADE, related_name="card")
    name = models.CharField(max_length=50)
    # The first six digits: with the last four, what PCI DSS lets be shown of a number.
    bin = models.CharField("BIN", max_length=6)
    last4 = models.CharField(max_length=4)
    exp_month = models.CharField(max_length=2)
    exp_year = models.CharField(max_length=4)
    address = VerbatimJSONField(default=dict, blank=True)
    brand = models.CharField(max_length=10)
    funding = models.CharField(max_length=10)
    country = models.CharField(max_length=10)
    issuing_bank = models.CharField(max_length=100)
    cvc_checked = models.CharField(max_length=11, choices=CvcChecked.choices, default=CvcChecked.UNCHECKED)
    fingerprint = models.BinaryField(max_length=32)
    sealed_number = models.BinaryField(null=True)
    # When the number of an unused source must be deleted.
    number_expires_at = models.DateTimeField(null=True, blank=True)
    # When the event is due that this kept card expires soon; empty once it is written.
    expiring_at = models.DateTimeField(null=True, blank=True)
    # When a payment with the card's owner was approved first; empty for a card that was never checked.
    checked_at = models.DateTimeField(null=True, blank=True)
    # The card network's reference of that payment, or of one without the payer where there is none yet,
    # sent with those without the payer. Not sealed: it names a payment and no account, takes no money without the
    # number, and PCI DSS does not count it as card data.
    network_reference = models.CharField(max_length=NETWORK_REFERENCE_MAX_LENGTH, blank=True, default="")
    # Until then no kept card of this number is charged: its issuer never approves it, and networks charge for tries.
    refused_until = models.DateTimeField(null=True, blank=True)
    sealed_cvc = models.BinaryField(null=True)
    # When the CVC must be deleted at the latest.
    cvc_expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(F("fingerprint"), name="card_fingerprint"),
            models.Index(F("last4"), name="card_last4"),
            # By the moment last, so that the read of a source to charge is planned once: its plan for all values would
            # otherwise have to expect that a third of the sources with the same card are refused.
            models.Index(
                F("merchant"),
                F("fingerprint"),
                F("refused_until"),
                name="card_refused",
                condition=Q(refused_until__isnull=False),
            ),
            models.Index(F("cvc_expires_at"), name="card_cvc_to_destroy", condition=Q(sealed_cvc__isnull=False)),
            models.Index(F("expiring_at"), name="card_expiring", condition=Q(expiring_at__isnull=False)),
            models.Index(
                F("number_expires_at"), name="card_number_to_destroy", condition=Q(number_expires_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{brand_name(self.brand)} …{self.last4}"


class BinRange(models.Model):
    """The issuer of cards by their first digits, imported by `manage.py import_bins`."""

    prefix = models.CharField(max_length=11, primary_key=True)
    brand = models.CharField(max_length=10)
    funding = models.CharField(max_length=10, default="unknown")
    country = models.CharField(max_length=10, default="unknown")
    issuing_bank = models.CharField(max_length=100, default="unknown")

    class Meta:
        verbose_name = "BIN range"

    def __str__(self) -> str:
        return self.prefix
