"""What django-allauth asks of this installation."""

from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from payments import vault
from payments.admin.lists.mode import is_own_path
from payments.api.access.throttling import client_address
from payments.staff.sign_in import factors, lockout
from payments.staff.sites import site_of
from payments.web.known_browsers import mark

NOT_SIGNED_IN = _("The username or the password is not right.")
WRONG = _("That code is not right, or was used already. Wait a moment, then try the next one.")
UNKNOWN_ADDRESS = "0.0.0.0"  # nosec B104 # nothing listens here


class AccountAdapter(DefaultAccountAdapter):
    """Passwords, sessions and mail."""

    error_messages = DefaultAccountAdapter.error_messages | {"username_password_mismatch": NOT_SIGNED_IN}

    def get_client_ip(self, request: HttpRequest) -> str:
        # PostgreSQL's `inet` has no zones (fe80::1%eth0).
        with suppress(ValueError):
            return str(ip_address(client_address(request).partition("%")[0]))
        return UNKNOWN_ADDRESS

    def is_safe_url(self, url: str | None) -> bool:
        return is_own_path(url or "")

    def get_reset_password_from_key_url(self, key: str) -> str:
        return _at_our_host(self.request, super().get_reset_password_from_key_url(key))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return _at_our_host(request, super().get_email_confirmation_url(request, emailconfirmation))

    def is_ajax(self, request: HttpRequest) -> bool:
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        lockout.refuse(request, credentials["username"])

    def pre_login(self, request: HttpRequest, user: Any, **login: Any) -> HttpResponse | None:
        # Nobody who knows the session from before has what follows.
        request.session.cycle_key()
        response: HttpResponse | None = super().pre_login(request, user, **login)
        return response

    def post_login(self, request: HttpRequest, user: Any, **login: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **login)
        mark(response, user.pk)
        return response

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("admin:index")

    def is_reauthentication_required(self, *, app: str, **_: Any) -> bool:
        return not factors.gave_password(self.request)

    def send_password_reset_mail(self, user: Any, email: str, context: dict[str, Any]) -> None:
        # Who never had a password sets it by an invitation. The stored address counts, and no other that was typed.
        if user.has_usable_password():
            super().send_password_reset_mail(user, user.email, context)


def _at_our_host(request: HttpRequest, link: str) -> str:
    """Return a link for a message, which no `Host` header of a request leads elsewhere."""
    return f"{site_of(request).setting('ORIGIN')}{urlsplit(link).path}"


class FactorAdapter(DefaultMFAAdapter):
    """Second factors, whose secrets are encrypted in the database."""

    error_messages = DefaultMFAAdapter.error_messages | {"incorrect_code": WRONG}

    def encrypt(self, text: str) -> str:
        return vault.factor_cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return vault.factor_cipher().decrypt(encrypted_text).decode()

    def is_mfa_enabled(self, user: Any, types: Any = None) -> bool:
        return settings.ADMIN_MFA and super().is_mfa_enabled(user, types)

    def get_totp_label(self, user: Any) -> str:
        return str(user.get_username())

    def get_public_key_credential_user_entity(self, user: Any) -> dict[str, Any]:
        return super().get_public_key_credential_user_entity(user) | {"name": user.get_username()}

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002 # the library's name
        return "Passkey"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": site_of(context.request).setting("PASSKEY_HOST"), "name": settings.MFA_TOTP_ISSUER}
