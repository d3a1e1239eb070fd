"""Webhook endpoints: made, changed and deleted by merchants and operators, and disabled where nothing arrives.

Each change locks the merchant first, so that there is one at a time. Where it may lead events elsewhere, or silence
them, the endpoints as they were get `organization.updated`, because the change may be an attacker's.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from payments import clock
from payments.db.writes import execute_writes
from payments.domain.audit import audit_log, notices
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.error_table import TOO_MANY_WEBHOOK_ENDPOINTS
from payments.domain.merchants.merchants import create_webhook_secret, valid_webhook_secrets
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller, mode_name, read_endpoints
from payments.domain.shared.errors import conflict
from payments.domain.shared.finder import Finder
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.domain.webhooks import test_event
from payments.ids import first_id, public_id
from payments.models import Event, Merchant, Webhook, WebhookEndpoint
from payments.models.merchants.webhook_endpoint import PREFIX, WebhookEndpointQuerySet
from payments.sweeps.in_turn import each_in_turn
from payments.vault import with_prefetched_keys
from payments.webhooks import outbox
from payments.webhooks.outbox import Endpoint
from payments.webhooks.transport.results import Answer, Failure
from payments.webhooks.transport.urls import check_notify_url

ENDPOINTS_MAX = 16
OVERLAP = timedelta(days=1)
OVERLAP_MAX = timedelta(days=7)
# After so long of nothing but failures, longer than a webhook is tried, an endpoint is disabled.
FAILING_MAX = timedelta(days=5)
# When events are looked at that were written without knowing of a change: after the caches of all processes have let
# go of what was before, and in the end after every request that had begun by then.
CATCH_UP_AFTER = [*(timedelta(seconds=seconds) for seconds in (1.5, 5, 20, 90)), timedelta(minutes=5)]
# What a webhook takes from its event.
EVENT_FIELDS = ("id", "merchant_id", "livemode", "type", "created_at")
# What decides where events go.
LEADING = ("url", "enabled_events", "status")
Status = WebhookEndpoint.Status
# Makes the answer that shows an endpoint, with its new secret or without one.
Render = Callable[[WebhookEndpoint, str | None], StoredAnswer]


def own(caller: Caller) -> WebhookEndpointQuerySet:
    """Return the caller's endpoints."""
    return WebhookEndpoint.objects.of(caller.merchant_id, caller.livemode).present()


find = Finder(PREFIX, lambda *owner: WebhookEndpoint.objects.of(*owner).present())


def create(caller: Caller, order: Mapping[str, Any], render: Render) -> Result[WebhookEndpoint]:
    """Make an endpoint of a validated request body (`url`, `enabled_events`, `description`, `metadata`).

    Raise PaymentError `too_many_webhook_endpoints`, and Replay, which has no secret: it is stored sealed alone.
    """
    return _with_secret(caller, lambda: add(caller.merchant_id, caller.livemode, **order), render)


def update(caller: Caller, text: str, changes: Mapping[str, Any]) -> WebhookEndpoint:
    """Replace the members given and return the endpoint. Raise PaymentError `resource_missing`."""
    with transaction.atomic():
        _lock_merchant(caller.merchant_id)
        return _change(find(caller, text), changes)


def delete(caller: Caller, text: str) -> None:
    """Delete an endpoint; what waits for it is cancelled. Raise PaymentError `resource_missing`."""
    update(caller, text, {"status": Status.DELETED})


def roll_secret(caller: Caller, text: str, overlap: timedelta, render: Render) -> Result[WebhookEndpoint]:
    """Give an endpoint a new secret; the old one signs along for `overlap`.

    Raise PaymentError `resource_missing`, and Replay, which has no secret.
    """

    def roll() -> tuple[WebhookEndpoint, str]:
        endpoint = find(caller, text)
        return endpoint, _roll(endpoint, overlap)

    return _with_secret(caller, roll, render)


def send_test(endpoint: WebhookEndpoint) -> Answer | Failure:
    """Send a signed event about a charge that does not exist to the endpoint, and return what came of it.

    Raise ForbiddenUrl, and NotSent where another test event is under way.
    """
    secrets = valid_webhook_secrets(endpoint.merchant, endpoint.livemode, endpoint)
    return test_event.send(endpoint.merchant_id, endpoint.url, endpoint.livemode, secrets)


@with_prefetched_keys
def _with_secret(
    caller: Caller, make: Callable[[], tuple[WebhookEndpoint, str]], render: Render
) -> Result[WebhookEndpoint]:
    """Do what makes a secret once for the caller's idempotency key."""
    with transaction.atomic():
        record = idempotency.claim(caller)
        _lock_merchant(caller.merchant_id)
        endpoint, secret = make()
        if record:
            execute_writes(idempotency.answered(record.id, record.merchant_id, render(endpoint, None)))
    return Result(endpoint, render(endpoint, secret))


@with_prefetched_keys
@transaction.atomic
def add(merchant_id: UUID, livemode: bool, **members: Any) -> tuple[WebhookEndpoint, str]:
    """Make an endpoint with these `members`; return it with its secret (`whsec_…`), which is shown once.

    Raise ForbiddenUrl, PaymentError `too_many_webhook_endpoints`, and IntegrityError for an `id` that is there.
    """
    merchant = _lock_merchant(merchant_id)
    check_notify_url(members["url"], livemode)
    if WebhookEndpoint.objects.of(merchant_id, livemode).present().count() >= ENDPOINTS_MAX:
        raise conflict(TOO_MANY_WEBHOOK_ENDPOINTS, count=ENDPOINTS_MAX)
    before, now = read_endpoints(merchant_id, livemode), clock.now()
    endpoint = WebhookEndpoint(merchant=merchant, livemode=livemode, created_at=now, updated_at=now, **members)
    endpoint.save(force_insert=True)
    secret = create_webhook_secret(merchant, livemode, endpoint=endpoint)
    change = notices.Change("webhook_endpoint", after=_shown(endpoint))
    notices.notify_merchant(merchant_id, change, livemode=livemode, endpoints=before)
    _promise(endpoint)
    return endpoint, secret


def _lock_merchant(merchant_id: UUID) -> Merchant:
    return Merchant.objects.select_for_update(no_key=True).get(id=merchant_id)


def _change(endpoint: WebhookEndpoint, changes: Mapping[str, Any], **marks: Any) -> WebhookEndpoint:
    """Give an endpoint, whose merchant is locked, new values; the same ones again change nothing."""
    values = {name: value for name, value in changes.items() if getattr(endpoint, name) != value}
    if not values:
        return endpoint
    leading = [name for name in LEADING if name in values]
    before, shown = read_endpoints(endpoint.merchant_id, endpoint.livemode), _shown(endpoint)
    values |= {"updated_at": clock.now()}
    if "enabled_events" in values and endpoint.owed_since:
        # It is owed what it listed until now. Of its new types what others write by what they knew is no older.
        _add_owed(endpoint)
        endpoint.owed_since = max(endpoint.owed_since, clock.now() - CATCH_UP_AFTER[0])
    # An endpoint that is not what it was begins anew.
    values |= {"failing_since": None, "gave_up_at": None, **marks} if leading else {}
    for name, value in values.items():
        setattr(endpoint, name, value)
    if "url" in values:
        check_notify_url(endpoint.url, endpoint.livemode)
    endpoint.save(update_fields=list(values))
    if endpoint.status == Status.DELETED:
        # Its last event, that it is deleted, is still signed.
        valid = _secrets(endpoint).filter(Q(expires_at=None) | Q(expires_at__gt=clock.now()))
        valid.update(expires_at=clock.now() + FAILING_MAX)
    if leading:
        change = notices.Change("webhook_endpoint", shown, _shown(endpoint))
        notices.notify_merchant(endpoint.merchant_id, change, livemode=endpoint.livemode, endpoints=before)
        _promise(endpoint)
    return endpoint


def _promise(endpoint: WebhookEndpoint) -> None:
    """Have every event from now on go where the endpoint says; what others still write by what they knew is added.

    The notice of the change itself, which is written already, is none of them.
    """
    is_on, now = endpoint.status in (Status.ENABLED, Status.PAUSED), clock.now()
    endpoint.owed_since = (endpoint.owed_since or now) if is_on else None
    endpoint.catch_up_at = now + CATCH_UP_AFTER[0] if is_on else None
    endpoint.save(update_fields=["owed_since", "catch_up_at"])


def catch_up() -> int:
    """Write the webhooks that are missing of events after an endpoint was made or changed; return how many.

    A request or a worker knows the endpoints as they were when it began, or up to a second before.
    """
    return each_in_turn(WebhookEndpoint.objects.filter(catch_up_at__lte=clock.now()), "catch_up_at", _catch_up)


@transaction.atomic
def _catch_up(endpoint: WebhookEndpoint) -> int:
    later = [endpoint.updated_at + pause for pause in CATCH_UP_AFTER if endpoint.updated_at + pause > clock.now()]
    next_look = {"catch_up_at": later[0]} if later else {"catch_up_at": None, "owed_since": None}
    own = WebhookEndpoint.objects.filter(id=endpoint.id, catch_up_at=endpoint.catch_up_at)
    # Where it was changed meanwhile, that change has the next look.
    return _add_owed(endpoint) if own.update(**next_look) else 0


def _add_owed(endpoint: WebhookEndpoint) -> int:
    if endpoint.owed_since is None:
        return 0
    owed = Event.objects.of(endpoint.merchant_id, endpoint.livemode).filter(created_at__gt=endpoint.owed_since)
    owed = owed.filter(id__gte=first_id(endpoint.owed_since)).only(*EVENT_FIELDS)
    return outbox.add_missing(owed, Endpoint(endpoint.id, endpoint.url, endpoint.enabled_events))


def _shown(endpoint: WebhookEndpoint) -> str | None:
    """Return the URL that is called, without its query, which often holds a secret."""
    return endpoint.url.partition("?")[0] if endpoint.status == Status.ENABLED else None


def _text(value: Any) -> str:
    """Return a value for the audit log: of a URL without its query."""
    return ", ".join(value) if isinstance(value, list) else str(value).partition("?")[0]


def _secrets(endpoint: WebhookEndpoint) -> Any:
    return endpoint.secrets.filter(merchant_id=endpoint.merchant_id)


def _roll(endpoint: WebhookEndpoint, overlap: timedelta) -> str:
    """Create a secret; of the older ones only the newest signs along, so that there are never more than two."""
    _secrets(endpoint).exclude(expires_at=None).delete()
    _secrets(endpoint).update(expires_at=clock.now() + overlap)
    secret = create_webhook_secret(endpoint.merchant, endpoint.livemode, endpoint=endpoint)
    notices.notify_merchant(endpoint.merchant_id, notices.Change("webhook_secret"), livemode=endpoint.livemode)
    return secret


def disable_failing() -> int:
    """Disable the endpoints to which nothing arrives for FAILING_MAX and something still waits; return how many."""
    failing = Q(status=Status.ENABLED, failing_since__lte=clock.now() - FAILING_MAX)

    @transaction.atomic
    def disable(found: WebhookEndpoint) -> bool:
        _lock_merchant(found.merchant_id)
        endpoint = WebhookEndpoint.objects.filter(failing, id=found.id).first()
        if endpoint is None or not _has_failures(endpoint):
            return False
        _change(endpoint, {"status": Status.DISABLED}, gave_up_at=clock.now())
        return True

    return each_in_turn(WebhookEndpoint.objects.filter(failing), "failing_since", disable)


def _has_failures(endpoint: WebhookEndpoint) -> bool:
    """Return whether a webhook that failed is still to be tried: what was given up long ago proves nothing of today."""
    waiting = Webhook.objects.of(endpoint.merchant_id, endpoint.livemode).filter(due_at__isnull=False)
    return waiting.filter(receiver=public_id(PREFIX, endpoint.id), failures__gt=0).exists()


@transaction.atomic
def add_for_operator(
    merchant: Merchant, livemode: bool, url: str, enabled_events: list[str], endpoint_id: UUID
) -> tuple[WebhookEndpoint, str]:
    """Make an endpoint as `add` does, and record the operator's act."""
    endpoint, secret = add(merchant.id, livemode, url=url, enabled_events=enabled_events, id=endpoint_id)
    _record(Action.ADDED, endpoint, f"{mode_name(livemode)} mode: {audit_log.change(None, _shown(endpoint))}")
    return endpoint, secret


@transaction.atomic
def change_for_operator(endpoint: WebhookEndpoint, **changes: Any) -> None:
    """Change an endpoint and record the operator's act. Raise ForbiddenUrl, and PaymentError where it is deleted."""
    _lock_merchant(endpoint.merchant_id)
    known = find(Caller(endpoint.merchant_id, endpoint.livemode), public_id(PREFIX, endpoint.id))
    before = {name: _text(getattr(known, name)) for name in changes}
    _change(known, changes)
    after = {name: _text(getattr(known, name)) for name in changes}
    if changed := audit_log.changes(before, after):
        names = [name for name in changes if before[name] != after[name]]
        _record(Action.CHANGED, known, "; ".join(changed), ["webhook_endpoint", *names])


@with_prefetched_keys
@transaction.atomic
def roll_secret_for_operator(endpoint: WebhookEndpoint, overlap: timedelta) -> str:
    """Give an endpoint a new secret, return it, and record the operator's act."""
    _lock_merchant(endpoint.merchant_id)
    secret = _roll(endpoint, overlap)
    end = clock.iso(clock.now() + overlap)
    _record(Action.ROLLED, endpoint, f"the older secret signs along until {end} at most", ["webhook_secrets"])
    return secret


def send_test_for_operator(endpoint: WebhookEndpoint) -> Answer | Failure:
    """Send a test event as `send_test` does, and record the operator's act."""
    result = send_test(endpoint)
    audit_log.record(Action.TESTED, endpoint, detail=f"a test event: {test_event.result_text(result)}")
    return result


def _record(action: Action, endpoint: WebhookEndpoint, detail: str, fields: list[str] | None = None) -> None:
    notice_of = endpoint.merchant_id if endpoint.livemode else None
    audit_log.record(action, endpoint, fields=fields or ["webhook_endpoint"], detail=detail, notice_of=notice_of)
