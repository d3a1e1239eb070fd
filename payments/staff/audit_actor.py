"""The actor of what is done on a page, for the audit log."""

from django.http import HttpRequest, HttpResponseBase

from payments import context
from payments.api.access.throttling import client_address
from payments.context import Actor
from payments.web.environ import GetResponse


class AuditActor:
    """Record what is done on a page as done by the signed-in user, from their address."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = context.actor.set(lambda: Actor(request.user.get_username(), client_address(request), request.user.pk))
        try:
            return self.get_response(request)
        finally:
            context.actor.reset(token)
