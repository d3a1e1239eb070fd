"""How long a key rotation takes, in quiet and while sources are made and charged."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from payments import ids
from payments.domain.cards.card_data import new_card
from payments.domain.merchants.merchants import create_merchant
from payments.models import Card, DataKey, Merchant, Source
from payments.vault import Place, Purpose, seal
from tests.client import Api
from tests.contract.calls import CARD, CARD_SOURCE, order

CHUNK = 2000


def rotation(cards: int, traders: int) -> dict[str, Any]:
    """Re-encrypt `cards` vaulted cards twice, the second time while `traders` threads make and charge sources."""
    settings.ALLOWED_HOSTS, settings.RATE_LIMIT = ["testserver"], "100000/second"
    shop = create_merchant("Sari Store")
    for start in range(0, cards, CHUNK):
        _put_cards(shop.merchant, min(CHUNK, cards - start))
    quiet = _seconds_to_rotate()
    # As if the worker had finished the first rotation.
    DataKey.objects.filter(retired_at__isnull=False).delete()
    over = Event()
    with ThreadPoolExecutor(traders) as threads:
        trading = [threads.submit(_trade, shop.keys["sk_test"], over) for _ in range(traders)]
        busy = _seconds_to_rotate()
        over.set()
    answers = sum((each.result() for each in trading), Counter())
    return {"cards": cards, "quiet_seconds": quiet, "busy_seconds": busy, "answers_by_status": answers}


def _put_cards(merchant: Merchant, count: int) -> None:
    sources = [Source(merchant=merchant, livemode=False, type="card", used=True, vaulted=True) for _ in range(count)]
    model = new_card(sources[0], CARD)
    Source.objects.bulk_create(sources)
    Card.objects.bulk_create([_card_like(model, source) for source in sources])


def _card_like(model: Card, source: Source) -> Card:
    card = copy(model)
    card.id, card.source = ids.new_id(), source
    card.sealed_number = seal(CARD["number"], Place(Purpose.CARD, source.merchant_id, card.id, "number"))
    card.number_expires_at = card.sealed_cvc = card.cvc_expires_at = None
    return card


def _seconds_to_rotate() -> float:
    started = time.perf_counter()
    call_command("rotate_vault_keys", "--re-encrypt")
    return round(time.perf_counter() - started, 1)


def _trade(key: str, over: Event) -> Counter[int]:
    api, seen = Api(key), Counter[int]()
    try:
        while not over.is_set():
            made = api.post("/sources/", CARD_SOURCE)
            charged = api.post("/charges/", order(made.json()["id"]))
            seen.update([made.status_code, charged.status_code])
    finally:
        connection.close()
    return seen
