"""Operators' preferences, open invitations, and the failures that lock out."""

from django.contrib.auth.models import User
from django.db import models


class SignInFailures(models.Model):
    """The failures to sign in of one user name or one address; `key` is its fingerprint."""

    key = models.BinaryField(max_length=32, primary_key=True)
    failures = models.PositiveIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        default_permissions = ()


class OperatorProfile(models.Model):
    """A person's time zone and language, when a page was last requested, and when their rights grew."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="operator_profile")
    time_zone = models.CharField(max_length=64, default="")
    # Of the merchants' site; "" for that of the browser.
    language = models.CharField(max_length=8, default="")
    # Accurate to about a minute.
    last_seen_at = models.DateTimeField(null=True)
    # Since when the person has all rights; empty for since the account was made.
    rights_since = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()


class Invitation(models.Model):
    """An open link by which an operator sets a password; it is deleted when it is used or withdrawn."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="invitation")
    digest = models.BinaryField(max_length=32, unique=True)
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
