"""The one form of people's e-mail addresses, and the change of one's own.

It counts once a link sent there was opened by somebody who is signed in. The library keeps the new address until then,
and nothing else of addresses: its own page lets an address count that nobody confirmed.
"""

import logging
import string
from contextlib import suppress
from secrets import token_hex
from smtplib import SMTPException
from typing import Any, cast

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailAddress
from allauth.account.views import ConfirmEmailView
from allauth.decorators import rate_limit
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import connection, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.encoding import punycode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.generic import FormView

from payments.staff.sign_in.views import PersonalPage

logger = logging.getLogger("kaha.staff")

# Other letters have no place here: `upper` and `lower` make several of them one, such as a dotless i and an i.
SMALL_LETTERS = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# A sign-in name is an address with a mark, and has 150 characters at the most.
LENGTH_MAX = 120
OWN = _("This is your address already.")
NOT_SENT = _("The mail server did not take the message. Try again later.")
ANOTHERS = _("Another account has this address. Yours stays as it was.")
MAIL_ERRORS = (OSError, SMTPException)


def folded(address: str) -> str:
    """Return an address as it is compared, exactly: without blanks around it, in small ASCII letters.

    The domain is written as the mail goes there (IDNA), so that a letter that only looks like another is seen.
    """
    local, at, domain = address.strip().rpartition("@")
    with suppress(UnicodeError):
        domain = punycode(domain)
    return f"{local}{at}{domain}".translate(SMALL_LETTERS)


class AddressField(forms.EmailField):
    """Takes an e-mail address and returns it `folded`; refuses one whose mail would go nowhere.

    A name alone is an address at `domain`, if there is one.
    """

    domain = ""

    def __init__(self, **named: Any) -> None:
        super().__init__(**{"max_length": LENGTH_MAX} | named)

    def clean(self, value: Any) -> str:
        is_name = self.domain and value and "@" not in value
        address = folded(super().clean(f"{value.strip()}@{self.domain}" if is_name else value))
        if not address.isascii():
            raise ValidationError(validate_email.message, "invalid")
        return address


def hold(email: str) -> None:
    """Have everybody else who gives this address to an account wait until the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('kaha.addresses'), hashtext(%s))", [email])


def name_from(email: str) -> str:
    """Return a sign-in name that is this address, with a mark where somebody else has that."""
    is_taken = User.objects.filter(username=email).exists()
    return f"{email}+{token_hex(3)}" if is_taken else email


def is_another_operators(email: str, user: User) -> bool:
    """Return whether `user` is an operator and another operator has this address.

    A merchant's person may have one account at each merchant, all with one address.
    """
    others = User.objects.filter(is_staff=True).exclude(pk=user.pk).values_list("email", flat=True)
    return bool(email) and user.is_staff and folded(email) in map(folded, others)


def ask(request: HttpRequest, email: str) -> None:
    """Send a link to a new address of the user, in place of one asked for before."""
    with transaction.atomic():
        own = EmailAddress.objects.filter(user=cast(User, request.user))
        own.exclude(email=email).delete()
        asked, _created = own.get_or_create(email=email, defaults={"user": request.user})
    asked.send_confirmation(request)


def confirm(request: HttpRequest, asked: EmailAddress) -> bool:
    """Give the user the address that they asked for; return False where it is another operator's meanwhile.

    The address before gets a note.
    """
    user, before = asked.user, asked.user.email
    if not _give(request, asked):
        return False
    if before:
        try:
            get_adapter().send_mail("account/email/email_changed", before, {"user": user})
        except MAIL_ERRORS:
            logger.exception("the address before got no note of its change")
    return True


@transaction.atomic
def _give(request: HttpRequest, asked: EmailAddress) -> bool:
    """Give the address; a sign-in name that was made of the one before is made of the new one."""
    hold(asked.email)
    user, before = asked.user, asked.user.email
    if is_another_operators(asked.email, user) or not get_adapter().confirm_email(request, asked):
        return False
    EmailAddress.objects.filter(user=user).delete()
    if before and before in (user.username, user.username.rpartition("+")[0]):
        user.username = name_from(asked.email)
        user.save(update_fields=["username"])
    return True


class AddressForm(forms.Form):
    """Says nothing of who else has an address."""

    email = AddressField(label=_("New e-mail address"))

    def __init__(self, *args: Any, user: User, **named: Any) -> None:
        super().__init__(*args, **named)
        self.user = user

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"])
        if email == folded(self.user.email):
            raise forms.ValidationError(OWN)
        return email


@method_decorator([reauthentication_required, rate_limit(action="manage_email")], name="dispatch")
class AddressView(PersonalPage, FormView):
    """Asks for another address, which has to be confirmed."""

    title = _("Your e-mail address")
    template_name = "account/email.html"
    form_class = AddressForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"user": self.reader}

    def post(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        return super().post(request, *args, **named) if settings.EMAIL_HOST else self.get(request, *args, **named)

    def form_valid(self, form: AddressForm) -> HttpResponse:
        email = form.cleaned_data["email"]
        try:
            ask(self.request, email)
        except MAIL_ERRORS:
            form.add_error("email", NOT_SENT)
            return self.form_invalid(form)
        text = gettext("A link is on its way to {email}. Open it within a day, signed in.")
        messages.success(self.request, text.format(email=email))
        return super().form_valid(form)


class ConfirmAddressView(LoginRequiredMixin, ConfirmEmailView):
    """The page of the link, for the user alone who asked for it."""

    def get_object(self, queryset: Any = None) -> Any:
        found = super().get_object(queryset)
        if found.email_address.user_id != self.request.user.pk:
            raise Http404
        return found

    def post(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        asked = self.get_object().email_address
        if confirm(request, asked):
            name = asked.user.get_username()
            messages.success(
                request,
                gettext("Your address is {email} now. You sign in as {name}.").format(email=asked.email, name=name),
            )
        else:
            messages.error(request, ANOTHERS)
        return redirect("admin:index")
