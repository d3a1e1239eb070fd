"""The library's pages that operators have, below the admin's address."""

from allauth.account import views as account
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as passkeys
from allauth.usersessions import views as sessions
from django.urls import path, re_path

from payments.staff.sign_in.addresses import AddressView, ConfirmAddressView

urlpatterns = [
    path("login/", account.login, name="account_login"),
    path("second-factor/", factors.authenticate, name="mfa_authenticate"),
    path("confirm/", account.reauthenticate, name="account_reauthenticate"),
    path("password_change/", account.password_change, name="account_change_password"),
    path("address/", AddressView.as_view(), name="account_email"),
    path("address/<str:key>/", ConfirmAddressView.as_view(), name="account_confirm_email"),
    path("password-reset/", account.password_reset, name="account_reset_password"),
    path("password-reset/sent/", account.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password-reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        account.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("password-reset/done/", account.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    path("factors/", factors.index, name="mfa_index"),
    path("factors/", factors.index, name="mfa_list_webauthn"),
    path("enrol/", app.activate_totp, name="mfa_activate_totp"),
    path("enrol/passkey/", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path("factors/app/remove/", app.deactivate_totp, name="mfa_deactivate_totp"),
    path("factors/<int:pk>/remove/", passkeys.remove_webauthn, name="mfa_remove_webauthn"),
    path("recovery-codes/", recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("recovery-codes/new/", recovery_codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("sessions/", sessions.list_usersessions, name="usersessions_list"),
]
