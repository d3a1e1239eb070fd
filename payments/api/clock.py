from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.access.authentication import key_of
from payments.api.responses.errors import no_such_path, not_found
from payments.api.validation.serializers import CauseInput, ClockInput
from payments.api.views.viewset import ApiViewSet
from payments.domain.maintenance import caused_events, test_clock
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Event
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject


class Advanced(NamedTuple):
    livemode: bool
    advanced_seconds: int


CLOCK = ApiObject(
    "Clock",
    "The test clock: the time that has passed for your test objects.",
    object=member.named("clock"),
    livemode=member.flag("Always `false`.", False),
    advanced_seconds=member.number("How many seconds have passed.", 604_800),
)


class ClockViewSet(ApiViewSet):
    """What time, banks and people do to test objects: 404 without the setting KAHA_CLOCK, and in live mode."""

    writes = "clock:write"

    def perform_authentication(self, request: Request) -> None:
        if not settings.KAHA_CLOCK:
            raise no_such_path()
        super().perform_authentication(request)
        if key_of(request).livemode:
            raise not_found(
                "In live mode time passes by itself: only test mode has a clock. Use a test key, sk_test_…."
            )

    def advance(self, request: Request) -> HttpResponse:
        return self.run(request, ClockInput, _advance)

    def cause(self, request: Request) -> HttpResponse:
        return self.run(request, CauseInput, lambda caller, body: caused_events.cause(caller, body["type"], _show))


def _show(event: Event) -> StoredAnswer:
    return StoredAnswer(200, bytes(event.payload))


def _advance(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
    seconds = body["advance_seconds"]
    answer = StoredAnswer(200, to_bytes(CLOCK.render(Advanced(caller.livemode, seconds))))
    test_clock.advance(caller, timedelta(seconds=seconds), answer)
    return answer
