"""Authentication by API key: HTTP Basic with the key as user name (RFC 7617), or Bearer (RFC 6750)."""

import base64
from collections.abc import Hashable
from typing import Any, cast

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from payments import context
from payments.api.access.key_advice import EMPTY, NOT_ENCODED, PASSWORD, SCHEME, UNKNOWN, advice_on
from payments.api.access.product_paths import ALIAS
from payments.api.access.throttling import client_address, counted_address
from payments.api.responses.error_forms import is_for_assistants
from payments.api.responses.errors import refused
from payments.domain.catalogue.error_table import BAD_ORIGIN, KEY_INVALID, KEY_MISSING, KEY_REVOKED, NO_KEY
from payments.domain.merchants.api_keys import FULL_KEY, allows_address, key_digest
from payments.domain.merchants.key_cache import cached_keys
from payments.domain.merchants.origins import allows_origin
from payments.domain.shared.errors import right_missing
from payments.models import ApiKey, Merchant

# In a request's environment: its key for the log, also one that is refused; the merchant whose secret or restricted
# key it has; that its publishable key is not for pages of its origin.
NAMED_KEY = "kaha.key"
MERCHANT_OF_REQUEST = "kaha.merchant"
STRANGE_ORIGIN = "kaha.strange_origin"
REALM = 'Basic realm="kaha"'
ASSISTANTS = f"{ApiKey.PREFIXES[ApiKey.Kind.ASSISTANT]}_"
ELSEWHERE = "An assistant's key (ak_…) works at /mcp and nowhere else."
ONLY_ASSISTANTS = "At /mcp an assistant's key (ak_…) works, and no other does."


class KeyAuthentication(BaseAuthentication):
    """Sets `request.auth` to the ApiKey row and `request.user` to its merchant.

    An assistant's key works at the path of assistants alone, and no other key does there.
    """

    def authenticate(self, request: Request) -> tuple[Merchant, ApiKey]:
        text = _text_of(request)
        is_for_them = is_for_assistants(request.META["PATH_INFO"])
        if FULL_KEY.fullmatch(text) and text.startswith(ASSISTANTS) != is_for_them:
            raise _invalid(ONLY_ASSISTANTS if is_for_them else ELSEWHERE)
        key = _find(text)
        request.META[NAMED_KEY] = key
        _require_working(key, client_address(request))
        context.merchant.set(key.merchant_id)
        if key.kind != ApiKey.Kind.PUBLISHABLE:
            request.META[MERCHANT_OF_REQUEST] = key.merchant_id
        return key.merchant, key

    def authenticate_header(self, request: Request) -> str:
        return REALM


class KeyPermission(BasePermission):
    """A secret key may do everything, a publishable key what a view opens to browsers, a restricted key its rights.

    An action without a right is for secret keys only. A method that the view does not allow needs no right: every key
    gets 405.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        key = key_of(request)
        if key.kind in ApiKey.LIMITED and request.method in view.allowed_methods:
            right = view.right_for(getattr(view, "action", ""), request.method)
            if right and right not in key.rights:
                raise right_missing(right)
            return bool(right)
        if key.kind != ApiKey.Kind.PUBLISHABLE:
            return True
        _require_origin(key, request)
        return bool(getattr(view, "open_to_browsers", False))


def caller_of(request: HttpRequest) -> Hashable:
    """Return the caller for the limit of concurrent requests: the merchant of a secret key, otherwise the address.

    A publishable key is public, so its requests must not use up the threads of its merchant's own requests.
    """
    return request.META.get(MERCHANT_OF_REQUEST) or counted_address(request)


def key_of(request: Request) -> ApiKey:
    """Return the API key of an authenticated request, with its merchant loaded."""
    return cast(ApiKey, request.auth)


def _text_of(request: HttpRequest) -> str:
    """Return the text that was sent as the key, by either scheme."""
    header = request.META.get("HTTP_AUTHORIZATION", "").strip()
    if not header:
        raise NotAuthenticated("No API key was given.", code=KEY_MISSING)
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        raise _invalid(SCHEME)
    try:
        name, _, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except ValueError:
        raise _invalid(NOT_ENCODED) from None
    if not name and FULL_KEY.fullmatch(password):
        raise _invalid(PASSWORD)
    return name


def _find(text: str) -> ApiKey:
    if not text.strip():
        raise AuthenticationFailed(EMPTY, code=KEY_MISSING)
    if not FULL_KEY.fullmatch(text):
        raise _invalid(advice_on(text))
    key = cached_keys.find(key_digest(text))
    if key is None:
        raise _invalid()
    return key


def _require_working(key: ApiKey, address: str) -> None:
    # A key that is refused here gets the answer of an unknown key, so that its existence does not leak.
    if key.merchant.is_closed or not allows_address(key, address):
        raise _invalid()
    if not key.works:
        raise AuthenticationFailed(NO_KEY.codes[KEY_REVOKED], code=KEY_REVOKED)


def _require_origin(key: ApiKey, request: Request) -> None:
    """Refuse a page whose origin is not one of the key's; our own card fields, and programs, are no strangers."""
    origin = request.META.get("HTTP_ORIGIN", "")
    # A browser lets no page choose the Host.
    if not origin or origin == f"{request.scheme}://{request.get_host()}":
        return
    if not allows_origin(key, origin, is_strict=ALIAS in request.META):
        request.META[STRANGE_ORIGIN] = True
        raise refused(BAD_ORIGIN)


def _invalid(message: str = UNKNOWN) -> AuthenticationFailed:
    return AuthenticationFailed(message, code=KEY_INVALID)
