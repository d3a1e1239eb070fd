"""The library's WebAuthn views, by which browsers create and use passkeys, with the permissions of our sign-in."""

from typing import Any

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.urls import path
from django.views.i18n import JavaScriptCatalog
from django_otp_webauthn import views
from django_otp_webauthn.exceptions import CredentialNotFound, MalformedRequest
from django_otp_webauthn.utils import rewrite_exceptions

from payments.staff.sign_in import pending

app_name = "otp_webauthn"


class Robust(views.BaseWebAuthnView):
    """A view that answers 400 to every malformed body."""

    def handle_exception(self, exc: Exception) -> HttpResponseBase:
        unreadable = isinstance(exc, (UnicodeDecodeError, RecursionError))
        return super().handle_exception(MalformedRequest() if unreadable else exc)


class Enrolling(Robust):
    """A view for a user who may add a second factor."""

    def get_user(self) -> User | None:
        return pending.enrolling(self.request)


class Waiting(Robust):
    """A view for a user whose password was right."""

    def get_user(self) -> User | None:
        return pending.waiting(self.request)


class BeginRegistration(Enrolling, views.BeginCredentialRegistrationView):
    """The options for a new passkey."""


class CompleteRegistration(Enrolling, views.CompleteCredentialRegistrationView):
    """Stores the new passkey; a user who had no second factor is signed in with it."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> JsonResponse:
        user: Any = self.get_user()
        state = self.get_state()
        with rewrite_exceptions():
            device = self.get_helper().register_complete(user=user, state=state, data=self.request.data)
        device.name = "Passkey"
        device.save(update_fields=["name"])
        pending.finish(request, user, device)
        return JsonResponse({"id": device.pk})


class BeginAuthentication(Waiting, views.BeginCredentialAuthenticationView):
    """The options to use a passkey."""


class CompleteAuthentication(Waiting, views.CompleteCredentialAuthenticationView):
    """Signs the passkey's user in."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> JsonResponse:
        waiting: Any = self.get_user()
        answer = (self.get_state(), self.request.data)
        user: Any = authenticate(request, username=waiting.get_username(), passkey=answer)
        if user is None:
            raise CredentialNotFound
        pending.finish(request, user, user.otp_device)
        return JsonResponse(self.get_success_data(user.otp_device))


urlpatterns = [
    path("registration/begin/", BeginRegistration.as_view(), name="credential-registration-begin"),
    path("registration/complete/", CompleteRegistration.as_view(), name="credential-registration-complete"),
    path("authentication/begin/", BeginAuthentication.as_view(), name="credential-authentication-begin"),
    path("authentication/complete/", CompleteAuthentication.as_view(), name="credential-authentication-complete"),
    path("jsi18n/", JavaScriptCatalog.as_view(packages=["django_otp_webauthn"]), name="js-i18n-catalog"),
]
