"""From a request to a call of the domain: the caller, the idempotency key and the stored answer."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.viewsets import ViewSetMixin

from payments import context, vault
from payments.api.access.authentication import key_of
from payments.api.access.idempotency_headers import idempotency_key_of
from payments.api.access.throttling import counted_address
from payments.api.responses.errors import ApiError
from payments.api.responses.rendering import json_response
from payments.api.responses.stored_answers import refusal_answer
from payments.api.validation.strict import StrictSerializer
from payments.api.views.base import ApiView
from payments.domain.catalogue.error_table import CONFLICT, REQUEST_BUSY, RESOURCE_BUSY, SESSION_BUSY
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller, IdempotencyKey, RequestFacts
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.idempotency import Replay, StoredAnswer
from payments.json_codecs.verbatim_json import to_sorted_bytes
from payments.models import ApiKey

# Conflicts that end by themselves: the same request may be sent again under its idempotency key.
TRANSIENT = {RESOURCE_BUSY, SESSION_BUSY, REQUEST_BUSY}
REFUSALS = (PaymentError, ApiError, vault.VaultUnavailable)

Verb = Callable[[Caller, dict[str, Any]], StoredAnswer]


class ApiViewSet(ViewSetMixin, ApiView):
    """The base of all resources of `/v2`."""

    lookup_value_regex = "[^/]+"

    def caller(self, request: Request) -> Caller:
        """Return the caller of the domain for this request. Raises ApiError 422 for a bad idempotency key."""
        key = key_of(request)
        idempotency = _idempotency_key(request) if request.method == "POST" else None
        return Caller(
            key.merchant_id,
            key.livemode,
            key_id=key.id,
            rights=frozenset(key.rights) if key.kind in ApiKey.LIMITED else None,
            request=RequestFacts(context.request_id.get(), counted_address(request), idempotency),
            merchant=key.merchant,
            endpoints=key.endpoint_list,  # type: ignore[attr-defined] # annotated
        )

    def run(self, request: Request, serializer_class: type[StrictSerializer], verb: Verb) -> HttpResponse:
        """Validate the body and call `verb`, or replay the answer that this idempotency key has."""
        caller = self.caller(request)
        try:
            answer, headers = _answer(caller, lambda: verb(caller, self.body(serializer_class))), {}
        except Replay as replay:
            answer, headers = replay.answer, {"Idempotent-Replayed": "true"}
        return json_response(answer.body, answer.status, headers)


def _idempotency_key(request: Request) -> IdempotencyKey | None:
    key = idempotency_key_of(request.META)
    if key is None:
        return None
    # The order of members and white space do not make it another request.
    body = to_sorted_bytes(request.data)
    path = request.path.rstrip("/")
    return IdempotencyKey(key, vault.request_fingerprint(request.method or "", path, body))


def _answer(caller: Caller, ask: Callable[[], StoredAnswer]) -> StoredAnswer:
    """Return the answer of `ask`, or the stored answer to its refusal; raise any other refusal.

    A verb claims the idempotency key with its first write. A refusal can come before that, so the key is looked up
    here: the answer that it already has is replayed instead of the refusal.
    """
    try:
        return ask()
    except REFUSALS as refusal:
        idempotency.look_up(caller)
        if not isinstance(refusal, PaymentError) or refusal.kind is not CONFLICT or refusal.code in TRANSIENT:
            raise
        answer = refusal_answer(refusal, caller.request.id)
        idempotency.store_answer(caller, answer)
        return answer
