"""Who acts on a page, for whoever keeps a record of it."""

from functools import partial

from django.http import HttpRequest, HttpResponseBase

from payments import context
from payments.api.throttling import client_address
from payments.context import Actor
from payments.web.middleware import GetResponse, is_api


class PageActor:
    """Has what is done on a page be told as done by whoever is signed in there, from where they are."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_api(request):
            return self.get_response(request)
        token = context.actor.set(partial(_actor_on, request))
        try:
            return self.get_response(request)
        finally:
            context.actor.reset(token)


def _actor_on(request: HttpRequest) -> Actor:
    return Actor(request.user.get_username(), client_address(request), request.user.pk)
