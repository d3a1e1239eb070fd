from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Upper
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fast_model import FastModel

check_support_phone = RegexValidator(
    r"\A\+?[0-9][0-9 ()-]{3,22}[0-9]\Z", _("Write a telephone number as +63 917 555 0142.")
)


class Merchant(models.Model):
    """A merchant: the owner of API keys and of the money."""

    class KeptBodies(models.TextChoices):
        """In which modes the log of requests keeps what was sent and answered."""

        TEST = "test", _("In test mode")
        BOTH = "both", _("In both modes")
        NONE = "none", _("Never")

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    title = models.CharField(_("title"), max_length=100)
    account_name = models.CharField(_("account name"), max_length=100)
    statement_descriptor = models.CharField(_("statement descriptor"), max_length=100)
    status = models.CharField(
        _("status"), max_length=10, default="active", choices=[("active", _("Active")), ("closed", _("Closed"))]
    )
    branding = models.JSONField(default=dict, blank=True)
    # The IDs of its BrandPictures; empty for none.
    logo = models.UUIDField(null=True, editable=False)
    icon = models.UUIDField(null=True, editable=False)
    business_address = models.CharField(_("business address"), max_length=255, blank=True, default="")
    payment_method_settings = models.JSONField(default=dict, blank=True)
    rates = models.JSONField(default=dict, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    # Where payers ask about their orders: on their pages and in their messages.
    support_email = models.EmailField(_("support email"), blank=True, default="")
    support_phone = models.CharField(
        _("support phone"), max_length=25, blank=True, default="", validators=[check_support_phone]
    )
    # Whether payers get a message when a payment is captured or refunded.
    send_receipts = models.BooleanField(_("send receipts"), default=False)
    kept_bodies = models.CharField(
        _("bodies of requests"), max_length=4, choices=KeptBodies.choices, default=KeptBodies.NONE
    )
    # The limit of declines in a window, in each mode; empty for the default.
    decline_budget = models.PositiveIntegerField(null=True, blank=True)
    # How many events of each mode were about the merchant itself.
    events_test = models.PositiveIntegerField(default=0, editable=False)
    events_live = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("merchant"), _("merchants")
        constraints = checks(
            merchant_bears_some_declines=~models.Q(decline_budget=0),
        )

    def __str__(self) -> str:
        return self.title

    def keeps_bodies(self, livemode: bool) -> bool:
        return self.kept_bodies == self.KeptBodies.BOTH or (self.kept_bodies == self.KeptBodies.TEST and not livemode)

    @property
    def is_closed(self) -> bool:
        """Whether its keys and its pages take nothing any more; what is under way ends."""
        return self.status == "closed"


class FeeTemplate(models.Model):
    """Fees by type and currency that an operator gives to merchants; a later change of it changes no merchant."""

    title = models.CharField(max_length=60)
    # As `Merchant.rates`.
    rates = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        verbose_name = "fee template"
        constraints = [models.UniqueConstraint(Upper("title"), name="fee_template_title_once")]

    def __str__(self) -> str:
        return self.title


class BrandPicture(models.Model):
    """A merchant's logo or icon, for anybody to load: a PNG that kaha made, whose ID comes of it and its merchant."""

    id = models.UUIDField(primary_key=True, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+")
    content = models.BinaryField()

    class Meta:
        default_permissions = ()
        constraints = checks(
            brand_picture_in_bounds=LessThanOrEqual(
                models.Func("content", function="octet_length", output_field=models.IntegerField()), 280 * 1024
            ),
        )

    def __str__(self) -> str:
        return f"picture {self.id}"


class ApiKey(FastModel):
    """An API key of one merchant in one mode; of a secret key only the SHA-256 digest is stored."""

    class Kind(models.TextChoices):
        SECRET = "secret", _("Secret")  # nosec B105 # a kind of key, not one
        PUBLISHABLE = "publishable", _("Publishable")
        RESTRICTED = "restricted", _("Restricted")
        ASSISTANT = "assistant", _("Assistant's")

    PREFIXES = {Kind.SECRET: "sk", Kind.PUBLISHABLE: "pk", Kind.RESTRICTED: "rk", Kind.ASSISTANT: "ak"}
    # Kinds that may do no more than their rights.
    LIMITED = (Kind.RESTRICTED, Kind.ASSISTANT)

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="keys")
    livemode = models.BooleanField()
    kind = models.CharField(_("kind"), max_length=11, choices=Kind.choices)
    digest = models.BinaryField(max_length=32, unique=True)
    last4 = models.CharField(max_length=4)
    # What operators call it, such as the program that uses it.
    name = models.CharField(_("name"), max_length=60, blank=True, default="")
    # The text of a publishable key, which `/v2/me` shows; empty for secret keys.
    public_text = models.CharField(max_length=100, blank=True)
    # The scopes of a restricted or an assistant's key, such as `charges:read`; empty for the other kinds.
    rights = ArrayField(models.CharField(max_length=50), default=list, blank=True)
    # What an assistant may ask for, by tool: nothing more, or the amounts up to which no person decides.
    rules = models.JSONField(default=dict, blank=True)
    # The account, which nobody can sign in to, in whose name an assistant asks; a rolled key's successor has it too.
    asks_as = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    # The person who was shown its text; empty where a command made it.
    issued_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    # Networks (CIDR) from which the key works; empty for all.
    allowed_networks = ArrayField(models.CharField(max_length=43), default=list, blank=True)
    # Origins of the pages that may use a publishable key and show its card fields; empty for any in test mode.
    allowed_origins = ArrayField(models.CharField(max_length=270), default=list, blank=True)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)
    # Accurate to about a minute.
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("API key"), _("API keys")
        constraints = checks(
            key_text_only_of_publishable=models.Q(kind="publishable") | models.Q(public_text=""),
            key_rights_only_of_restricted=models.Q(~models.Q(rights=[]), kind__in=["restricted", "assistant"])
            | models.Q(~models.Q(kind__in=["restricted", "assistant"]), rights=[]),
            key_rules_only_of_assistants=models.Q(kind="assistant", asks_as__isnull=False)
            | models.Q(~models.Q(kind="assistant"), rules={}, asks_as__isnull=True),
            key_origins_only_of_publishable=models.Q(kind="publishable") | models.Q(allowed_origins=[]),
        )

    def __str__(self) -> str:
        return f"{self.masked_prefix}…{self.last4}"

    @property
    def works(self) -> bool:
        """Whether it opens anything now."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > clock.now())

    @property
    def masked_prefix(self) -> str:
        return f"{self.PREFIXES[self.Kind(self.kind)]}_{'live' if self.livemode else 'test'}_"


class WebhookSecret(models.Model):
    """A sealed `whsec_…` that signs one merchant's webhooks in one mode; two are valid while one is rolled.

    Those to an endpoint are signed with the endpoint's, and those to the notify URLs of sources with the others.
    """

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="webhook_secrets")
    livemode = models.BooleanField()
    endpoint = models.ForeignKey(
        "payments.WebhookEndpoint", models.PROTECT, null=True, blank=True, related_name="secrets", db_index=False
    )
    sealed = models.BinaryField()
    created_at = models.DateTimeField(default=clock.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("webhook secret"), _("webhook secrets")

    def __str__(self) -> str:
        return f"secret of {self.created_at:%Y-%m-%d}"
