"""The addresses to which providers send webhooks: one for each account."""

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from payments.api.throttling import count_webhook
from payments.domain.provider_events import inbox
from payments.domain.provider_events.inbox import NoSuchAccount
from payments.providers.base import BadSignature
from payments.vault import VaultUnavailable

RETRY_AFTER_SECONDS = 60


@csrf_exempt
@require_POST
def webhook_came(request: HttpRequest, account_id: str) -> HttpResponse:
    """Keeps what came, and answers before anything is done about it; a provider that is refused sends it again."""
    verdict = count_webhook(request)
    if not verdict.allowed:
        return _said(429, "Too many messages.", verdict.reset_seconds)
    try:
        return _said(200, inbox.take(account_id, request.headers, request.body))
    except RequestDataTooBig:
        return _said(413, "Too long.")
    except NoSuchAccount:
        return _said(404, "There is no such account.")
    except BadSignature:
        return _said(401, "The signature is wrong.")
    except VaultUnavailable:
        return _said(503, "The signature cannot be checked now.", RETRY_AFTER_SECONDS)


def _said(status: int, text: str, retry_after_seconds: int | None = None) -> HttpResponse:
    headers = {"Retry-After": str(retry_after_seconds)} if retry_after_seconds else {}
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8", headers=headers)
