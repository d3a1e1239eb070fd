"""Second factors, stored so that their tables are useless without the vault's keys."""

import base64
import secrets

from django.contrib.auth.models import User
from django.db import models, transaction
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from payments import vault

CODES = 10
CODE_BYTES = 6
# The length of the library's column.
FINGERPRINT_LENGTH = 16


class Authenticator(TOTPDevice):
    """An app for one-time passwords (TOTP, RFC 6238). `key` is a seed from which the vault derives the key."""

    class Meta:
        proxy = True
        default_permissions = ("view", "delete")
        verbose_name = "authenticator app"

    @property
    def bin_key(self) -> bytes:
        return vault.authenticator_key(self.user_id, bytes.fromhex(self.key))

    @property
    def typed_key(self) -> str:
        """The key in the form that users type into an app."""
        text = base64.b32encode(self.bin_key).decode()
        return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


class RecoveryCodes(StaticDevice):
    """Codes for a user who has lost the other factors; each works once, and only its fingerprint is stored."""

    class Meta:
        proxy = True
        default_permissions = ("view", "delete")
        verbose_name = verbose_name_plural = "recovery codes"

    @property
    def left(self) -> int:
        return int(self.token_set.count())

    def verify_token(self, token: str) -> bool:
        return bool(super().verify_token(self._fingerprint(token)))

    @transaction.atomic
    def renew(self) -> list[str]:
        """Replace all codes; return the new ones, which cannot be read again."""
        codes = [secrets.token_hex(CODE_BYTES) for _ in range(CODES)]
        self.token_set.all().delete()
        for code in codes:
            self.token_set.create(token=self._fingerprint(code))
        return codes

    def _fingerprint(self, code: str) -> str:
        return vault.recovery_code_fingerprint(self.user_id, code).hex()[:FINGERPRINT_LENGTH]


class OperatorProfile(models.Model):
    """An operator's time zone, and when a page was last requested."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="operator_profile")
    time_zone = models.CharField(max_length=64, default="")
    # Accurate to about a minute.
    last_seen_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()


class Invitation(models.Model):
    """An open link by which an operator sets a password; it is deleted when it is used or withdrawn."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="invitation")
    digest = models.BinaryField(max_length=32, unique=True)
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()


def device_that_accepts(user: User, code: str) -> Device | None:
    """Return the user's device that accepts `code`, which is then used up; None if none does."""
    model = Authenticator if len(code) == 6 else RecoveryCodes
    with transaction.atomic():
        # Locked, so that one of two concurrent uses of a code fails.
        device = model.objects.select_for_update().filter(user=user, confirmed=True).first()
        return device if device and device.verify_token(code) else None
