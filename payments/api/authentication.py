"""API keys: HTTP Basic with the key as user name (RFC 7617), or Bearer (RFC 6750)."""

import base64
import binascii
import re
from typing import TYPE_CHECKING, cast

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from payments import clock
from payments.domain.keys import key_digest
from payments.models import ApiKey, Merchant

if TYPE_CHECKING:
    # DRF imports this module while it makes its own views.
    from rest_framework.views import APIView

REALM = 'Basic realm="kaha"'
KEY = re.compile(r"[spr]k_(live|test)_[A-Za-z0-9_-]{20,200}")


class KeyAuthentication(BaseAuthentication):
    """Finds the key of a request: `request.auth` is the ApiKey row, `request.user` its merchant."""

    def authenticate(self, request: Request) -> tuple[Merchant, ApiKey]:
        key = _find(_text_of(request))
        return key.merchant, key

    def authenticate_header(self, request: Request) -> str:
        return REALM


class SecretKeyRequired(BasePermission):
    """A publishable key may do only what a view opens to browsers."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        return bool(key_of(request).kind == ApiKey.Kind.SECRET or getattr(view, "open_to_browsers", False))


def key_of(request: Request) -> ApiKey:
    """The key that signed `request`, its merchant at hand."""
    return cast(ApiKey, request.auth)


def _text_of(request: HttpRequest) -> str:
    scheme, _, value = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
    if not value.strip():
        raise NotAuthenticated("No API key was given.", code="key_missing")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        raise _invalid()
    try:
        return base64.b64decode(value.strip(), validate=True).decode().partition(":")[0]
    except (binascii.Error, UnicodeDecodeError):
        raise _invalid() from None


def _find(text: str) -> ApiKey:
    if not KEY.fullmatch(text):
        raise _invalid()
    key = ApiKey.objects.select_related("merchant").filter(digest=key_digest(text)).first()
    if key is None or key.merchant.status != "active":
        raise _invalid()
    if key.revoked_at or (key.expires_at and key.expires_at <= clock.now()):
        raise AuthenticationFailed("This API key was revoked or has expired.", code="key_revoked")
    return key


def _invalid() -> AuthenticationFailed:
    return AuthenticationFailed("This API key is not valid.", code="key_invalid")
