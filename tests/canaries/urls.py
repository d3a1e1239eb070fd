"""kaha's routes, and some that fail with the card in the body."""

import json
import logging
import threading
from collections.abc import Callable
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.request import Request

from config.celery import app
from config.urls import handler400, handler404, handler500
from config.urls import urlpatterns as ours
from payments.api.views.base import ApiView
from payments.domain.cards.card_data import new_card
from payments.models import Card, Merchant, Source
from tests.canaries.marks import SHAPES

__all__ = ["handler400", "handler404", "handler500", "urlpatterns"]
logger = logging.getLogger("tests.canaries")

Body = dict[str, Any]


def _chained(body: Body, merchant: Merchant) -> None:
    raise RuntimeError("cannot take it") from KeyError(body)


def _number(body: Body, merchant: Merchant) -> None:
    int(f"{body['number']}x")


def _logged(body: Body, merchant: Merchant) -> None:
    card = (body["number"], body["cvc"])
    logger.error("cannot take %s", card, extra={"body": body, "bodies": [json.dumps(body)], "data": str(body).encode()})


def _threaded(body: Body, merchant: Merchant) -> None:
    """Raise an error in a thread, which only standard error shows."""
    thread = threading.Thread(target=_chained, args=[body, merchant])
    thread.start()
    thread.join()


def _row(body: Body, merchant: Merchant) -> None:
    """Cause an error of PostgreSQL that quotes the whole row."""
    card = _card(body, merchant)
    card.brand = None
    card.save(force_insert=True)


def _twice(body: Body, merchant: Merchant) -> None:
    card = _card(body, merchant)
    card.save(force_insert=True)
    Card.objects.filter(id=card.id).update(brand="much too long for a brand")


def _task(body: Body, merchant: Merchant) -> None:
    for name in SHAPES:
        app.send_task(f"tests.canaries.{name}")


def _card(body: Body, merchant: Merchant) -> Card:
    source = Source.objects.create(merchant=merchant, livemode=False, type="card")
    return new_card(source, {**body, "name": "Juan dela Cruz", "exp_month": "12", "exp_year": "2039"})


def _quoting(name: str) -> Callable[[Body, Merchant], None]:
    def fail(body: Body, merchant: Merchant) -> None:
        raise RuntimeError(f"cannot take {SHAPES[name](body['number'], body['cvc'])}")

    return fail


WAYS: dict[str, Callable[[Body, Merchant], None]] = {
    "chained": _chained,
    "number": _number,
    "logged": _logged,
    "threaded": _threaded,
    "row": _row,
    "twice": _twice,
    "task": _task,
    **{name: _quoting(name) for name in SHAPES},
}


class Breaking(ApiView):
    """A view that fails in the way that its path names."""

    def post(self, request: Request, way: str) -> HttpResponse:
        WAYS[way](request.data, request.user)
        return HttpResponse(b"{}")


def broken_page(request: HttpRequest) -> HttpResponse:
    """Fail outside of the API."""
    raise RuntimeError(f"cannot show {request.GET.dict()}")


def suspicious_page(request: HttpRequest) -> HttpResponse:
    raise SuspiciousOperation(f"cannot show {request.get_full_path()}")


urlpatterns = [
    *ours,
    path("v2/canaries/<way>", Breaking.as_view()),
    path("canaries/broken", broken_page),
    path("canaries/suspicious", suspicious_page),
]
