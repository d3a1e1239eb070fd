"""The pages of the sign-in, and those where operators manage their second factors."""

from typing import Any, cast

import segno
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, RedirectURLMixin
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic import FormView, TemplateView
from django.views.generic.base import ContextMixin, View
from django_otp import user_has_device
from django_otp_webauthn.models import WebAuthnCredential

from payments.sensitive_data.card_numbers import holds_card_number
from payments.staff.models import RecoveryCodes
from payments.staff.sign_in import enrolment, pending

NOT_SIGNED_IN = "The username or the password is not right."
WRONG = "That code is not right, or was used already. Wait a moment, then try the next one."


class CodeInput(forms.TextInput):
    """A text input that does not render its value again."""

    def format_value(self, value: Any) -> None:
        return None


class PasswordForm(AdminAuthenticationForm):
    """The sign-in form, which refuses card numbers as names, because the lock-out would store them."""

    error_messages = AdminAuthenticationForm.error_messages | {"invalid_login": NOT_SIGNED_IN}

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if holds_card_number(name):
            raise self.get_invalid_login_error()
        return name


class CodeForm(forms.Form):
    """A one-time code; blanks, dashes and case do not matter. The view adds the error for a wrong one."""

    code = forms.CharField(
        max_length=40,
        widget=CodeInput(attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )

    def clean_code(self) -> str:
        return "".join(self.cleaned_data["code"].split()).replace("-", "").lower()


class AdminPage(RedirectURLMixin, ContextMixin, View):
    """A page in the admin's layout, never cached, which passes on the address to return to."""

    next_page = "admin:index"
    title = ""

    @method_decorator([never_cache, sensitive_post_parameters()])
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        page = admin.site.each_context(self.request) | {"title": self.title, "next": self.get_success_url()}
        return super().get_context_data(**page | kwargs)

    def onward(self, name: str) -> HttpResponse:
        """Redirect to another of these pages, with the address to return to."""
        return redirect(f"{reverse(name)}?{urlencode({'next': self.get_success_url()})}")


class PersonalPage(AdminPage):
    """A page for one user, `reader`; others are redirected to the sign-in."""

    reader: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        reader = self.reader_of(request)
        if reader is None:
            return redirect("admin:login")
        self.reader = reader
        return super().dispatch(request, *args, **kwargs)

    def reader_of(self, request: HttpRequest) -> User | None:
        """Return the user whom the page is for, by default the signed-in one; None to redirect to the sign-in."""
        return cast(User, request.user) if admin.site.has_permission(request) else None


class PasswordView(AdminPage, LoginView):
    """Asks for the password, which is enough only if ADMIN_MFA is off."""

    title = "Sign in"
    template_name = "admin/login.html"
    authentication_form = PasswordForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(app_path=self.request.get_full_path(), **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        if not settings.ADMIN_MFA:
            return super().form_valid(form)
        pending.begin(self.request, form.get_user())
        return self.onward("admin:second_factor")


class SecondFactorView(PersonalPage, FormView):
    """Asks a user whose password was right for a code or a passkey."""

    title = "Second factor"
    template_name = "admin/staff/second_factor.html"
    form_class = CodeForm

    def reader_of(self, request: HttpRequest) -> User | None:
        return pending.waiting(request)

    def get(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().get(*args, **kwargs) if user_has_device(self.reader) else self.onward("admin:enrol")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        has_passkey = WebAuthnCredential.objects.filter(user=self.reader).exists()
        return super().get_context_data(has_passkey=has_passkey, **kwargs)

    def form_valid(self, form: CodeForm) -> HttpResponse:
        name = self.reader.get_username()
        user: Any = authenticate(self.request, username=name, token=form.cleaned_data["code"])
        if user is None:
            form.add_error("code", WRONG)
            return self.form_invalid(form)
        pending.finish(self.request, user, user.otp_device)
        if isinstance(user.otp_device, RecoveryCodes):
            left = user.otp_device.left
            messages.warning(self.request, f"That recovery code is used up, {left} are left. Renew what you have lost.")
            return redirect("admin:factors")
        return redirect(self.get_success_url())


class EnrolView(PersonalPage, FormView):
    """Offers an app and a passkey; a user without a second factor is signed in with the new one."""

    title = "New second factor"
    template_name = "admin/staff/enrol.html"
    form_class = CodeForm

    def reader_of(self, request: HttpRequest) -> User | None:
        return pending.enrolling(request)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        device = enrolment.offered_authenticator(self.request, self.reader)
        image = segno.make_qr(device.config_url).svg_data_uri(scale=5, light="white")
        return super().get_context_data(qr_code=image, key=device.typed_key, **kwargs)

    def form_valid(self, form: CodeForm) -> HttpResponse:
        device = enrolment.offered_authenticator(self.request, self.reader)
        if not device.verify_token(form.cleaned_data["code"]):
            form.add_error("code", WRONG)
            return self.form_invalid(form)
        enrolment.confirm(device)
        pending.finish(self.request, self.reader, device)
        return self.onward("admin:recovery_codes")


class RecoveryCodesView(PersonalPage, TemplateView):
    """Shows new recovery codes in answer to a POST, and never again."""

    title = "Recovery codes"
    template_name = "admin/staff/recovery_codes.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(left=enrolment.recovery_codes_of(self.reader).left, **kwargs)

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        codes = enrolment.renew_recovery_codes(self.reader)
        return self.render_to_response(self.get_context_data(codes=codes))


class FactorsView(PersonalPage, TemplateView):
    """The reader's own second factors; the one in use cannot be removed."""

    title = "Your second factors"
    template_name = "admin/staff/factors.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        codes, devices = enrolment.recovery_codes_of(self.reader), enrolment.factors_of(self.reader)
        return super().get_context_data(devices=devices, codes=codes, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        for device in enrolment.removable_factors_of(self.reader):
            if device.persistent_id == request.POST.get("remove"):
                device.delete()
                messages.success(request, "Removed.")
        return redirect("admin:factors")
