"""Under which names, and how, the service may be asked at all."""

import re

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from payments.api.errors import error_response, in_clear_text
from payments.api.handling import told_to_stranger
from payments.web.middleware import GetResponse, is_api

# Whoever watches the process asks it without a proxy, by its address.
WATCHED = re.compile(r"/ping/?")


class FrontDoor:
    """Answers nobody who asks under another name than ours, nor programs in clear text where there is https.

    Django asks for the name only where it needs it, and sends pages on to https by itself; a program that was sent on
    would go on telling its key to everybody on the way.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if WATCHED.fullmatch(request.path_info):
            return self.get_response(request)
        request.get_host()
        if settings.HTTPS and is_api(request) and not request.is_secure():
            return error_response(told_to_stranger(request, in_clear_text()))
        return self.get_response(request)
