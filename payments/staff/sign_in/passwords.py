"""What a password must have, and where it is hashed: apart, so that nobody's page waits for a guess."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from allauth.core.exceptions import ImmediateHttpResponse
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import context
from payments.api.access.throttling import client_address
from payments.concurrency.connections import release_connection
from payments.concurrency.fair_queue import BriefQueue
from payments.domain.risk.addresses import counted
from payments.staff.sites import site_of
from payments.web.known_browsers import known_by

# A hash takes a third of a second of a CPU. In each process one of a known browser is made at once, and one of all
# others; eight threads at the most wait for either, and others are refused at once.
MOST_WAITING, WAIT_SECONDS = 8, 5.0
KNOWN, UNKNOWN = (BriefQueue(MOST_WAITING, WAIT_SECONDS) for _number in range(2))
LETTER = re.compile(r"[^\W\d_]")
DIGIT = re.compile(r"\d")
FORM = _("The password must have letters and digits.")


class LettersAndDigits:
    """The requirement of PCI DSS 4.0.1 (8.3.6) beyond the length of a password."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        if not (LETTER.search(password) and DIGIT.search(password)):
            raise ValidationError(FORM, code="password_without_letters_or_digits")

    def get_help_text(self) -> str:
        return str(FORM)


@contextmanager
def hashing(request: HttpRequest) -> Iterator[None]:
    """Hash a password in the block, while others have the turn of this request; raise the answer 503 if many do."""
    browser = known_by(request.META.get("HTTP_COOKIE", ""))
    queue, caller = (KNOWN, browser) if browser else (UNKNOWN, ("address", counted(client_address(request))))
    with queue.turn(caller, partial(_busy, request), _begin_wait):
        yield


def _begin_wait() -> None:
    context.begin_wait()
    release_connection()


def _busy(request: HttpRequest) -> ImmediateHttpResponse:
    shown = site_of(request).each_context(request) | {"title": gettext("Too many requests")}
    response = render(request, "429.html", shown, status=503)
    response["Retry-After"] = str(int(WAIT_SECONDS))
    return ImmediateHttpResponse(response)
