from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks
from payments.models.merchants.merchant import Merchant
from payments.models.operators.reasons import SOMETHING_WRITTEN


class ProviderAccount(models.Model):
    """A merchant's account at a provider in one mode; in test mode it has sandbox credentials and takes no charges.

    Merchant, provider and mode never change.
    """

    PREFIX: ClassVar[str] = "pac"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="provider_accounts", db_index=False)
    livemode = models.BooleanField()
    # A name in `payments.providers.registry.CONNECTORS`.
    provider = models.CharField(max_length=40)
    title = models.CharField(max_length=100)
    # The encrypted JSON of the connector's credentials; `hints` has the last four characters of each.
    sealed_credentials = models.BinaryField()
    hints = models.JSONField(default=dict, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    enabled = models.BooleanField(default=True)
    # Counts the changes, so that cached connectors are rebuilt.
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ("view",)
        permissions = [
            ("change_provideraccount", "Can make and change provider accounts"),
            ("test_provideraccount", "Can test the credentials of provider accounts"),
        ]
        constraints = [
            *checks(
                provider_account_has_a_title=Q(title__regex=SOMETHING_WRITTEN),
            ),
            models.UniqueConstraint(F("merchant"), F("livemode"), F("title"), name="one_provider_account_per_title"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def public_id(self) -> str:
        """The ID in the address to which the provider sends webhooks."""
        return ids.public_id(self.PREFIX, self.id)
