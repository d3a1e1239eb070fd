"""The frame of the library's pages, and who may see them."""

from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.cache import add_never_cache_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from payments.staff.sign_in import factors
from payments.staff.sites import site_of

TITLES = dict(
    line.split(": ")
    for line in """\
account_login: Sign in
mfa_authenticate: Second factor
account_reset_password: Forgotten password
account_reset_password_done: Look at your mail
account_reset_password_from_key: Set a new password
account_reset_password_from_key_done: The new password is set
account_reauthenticate: Your password again
account_change_password: Change password
account_confirm_email: Your new e-mail address
mfa_index: Your second factors
mfa_activate_totp: New second factor
mfa_add_webauthn: New passkey
mfa_deactivate_totp: Remove the authenticator app
mfa_remove_webauthn: Remove a passkey
mfa_view_recovery_codes: Recovery codes
mfa_generate_recovery_codes: New recovery codes
usersessions_list: Where you are signed in
""".splitlines()
)
RESET = {name for name in TITLES if "_reset_" in name}
ENTRANCE = {"account_login", "mfa_authenticate", *RESET}
ENROLMENT = {"mfa_activate_totp", "mfa_add_webauthn"}
REMOVAL = {"mfa_deactivate_totp", "mfa_remove_webauthn"}


class AccountPages(MiddlewareMixin):
    """Keeps the library's pages to those who may see them, and puts them into the admin's frame."""

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponseBase | None:
        name = _name_of(request)
        if name in RESET and not settings.EMAIL_HOST:
            raise Http404
        if name not in TITLES or not request.user.is_authenticated:
            return None
        if name == "account_login" and request.method == "POST":
            logout(request)
        elif site_of(request).has_permission(request):
            is_last = name in REMOVAL and factors.of(request.user).count() < 2
            return redirect("mfa_index") if is_last else redirect("admin:index") if name == "account_login" else None
        elif factors.may_enrol(request):
            return None if name in ENROLMENT else redirect("mfa_activate_totp")
        return None if name in ENTRANCE else redirect("account_login")

    def process_template_response(self, request: HttpRequest, response: Any) -> HttpResponseBase:
        if title := TITLES.get(_name_of(request)):
            shown = {"title": _(title), "factor_in_use": factors.in_use(request)}
            response.context_data = site_of(request).each_context(request) | shown | (response.context_data or {})
            add_never_cache_headers(response)
        return response


def _name_of(request: HttpRequest) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""
