"""The URLs to which providers send webhooks: one for each account."""

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from payments.api.access.throttling import count_webhook
from payments.domain.provider_events import inbox
from payments.domain.provider_events.inbox import NoSuchAccount
from payments.providers.base import BadSignature
from payments.vault import VaultUnavailable

RETRY_AFTER_SECONDS = 60


@csrf_exempt
@require_POST
def receive_webhook(request: HttpRequest, account_id: str) -> HttpResponse:
    """Store a provider's webhook and answer before it is processed; a provider sends a refused webhook again."""
    usage = count_webhook(request)
    if not usage.allowed:
        return _plain_text(429, "Too many messages.", usage.reset_seconds)
    try:
        return _plain_text(200, inbox.take(account_id, request.headers, request.body))
    except RequestDataTooBig:
        return _plain_text(413, "Too long.")
    except NoSuchAccount:
        return _plain_text(404, "There is no such account.")
    except BadSignature:
        return _plain_text(401, "The signature is wrong.")
    except VaultUnavailable:
        return _plain_text(503, "The signature cannot be checked now.", RETRY_AFTER_SECONDS)


def _plain_text(status: int, text: str, retry_after_seconds: int | None = None) -> HttpResponse:
    headers = {"Retry-After": str(retry_after_seconds)} if retry_after_seconds else {}
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8", headers=headers)
