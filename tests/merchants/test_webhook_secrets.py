from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import connection

from payments import clock
from payments.domain.merchants import merchants
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Merchant, WebhookSecret
from payments.vault import unseal
from payments.webhooks.signing_secrets import place_of

DAY = timedelta(hours=24)


def working(merchant: Merchant, livemode: bool = False) -> dict[str, datetime | None]:
    """Return the secrets that sign now, oldest first, each with its end."""
    rows = WebhookSecret.objects.filter(merchant=merchant, livemode=livemode).order_by("id")
    texts = {unseal(row.sealed, place_of(merchant.id, row.id)): row.expires_at for row in rows}
    return {text: end for text, end in texts.items() if end is None or end > clock.now()}


def test_two_secrets_are_valid_until_the_overlap_ends(shop: NewMerchant) -> None:
    new = merchants.roll_webhook_secret(shop.merchant, False, DAY)
    ends = working(shop.merchant)
    assert list(ends) == [shop.webhook_secrets["whsec_test"], new]
    assert merchants.valid_webhook_secrets(shop.merchant, False) == [*ends][::-1]
    assert ends.pop(new) is None
    [end] = ends.values()
    assert timedelta(hours=23, minutes=59) < end - clock.now() <= DAY


def test_the_other_mode_and_another_merchant_keep_their_secrets(shop: NewMerchant, other_shop: NewMerchant) -> None:
    merchants.roll_webhook_secret(shop.merchant, False, DAY)
    assert working(shop.merchant, livemode=True) == {shop.webhook_secrets["whsec_live"]: None}
    assert working(other_shop.merchant) == {other_shop.webhook_secrets["whsec_test"]: None}


def test_a_second_roll_keeps_an_earlier_end(shop: NewMerchant) -> None:
    second = merchants.roll_webhook_secret(shop.merchant, False, timedelta(hours=1))
    promised = working(shop.merchant)[shop.webhook_secrets["whsec_test"]]
    third = merchants.roll_webhook_secret(shop.merchant, False, DAY)
    ends = working(shop.merchant)
    assert list(ends) == [shop.webhook_secrets["whsec_test"], second, third]
    assert ends[shop.webhook_secrets["whsec_test"]] == promised
    assert ends[second] > promised


def test_a_roll_without_overlap_leaves_only_the_new_secret(shop: NewMerchant) -> None:
    merchants.roll_webhook_secret(shop.merchant, False, DAY)
    new = merchants.roll_webhook_secret(shop.merchant, False, timedelta())
    assert working(shop.merchant) == {new: None}


@pytest.mark.django_db(transaction=True)
def test_concurrent_rolls_leave_one_secret_without_an_end(shop: NewMerchant) -> None:
    def roll(_: int) -> str:
        try:
            return merchants.roll_webhook_secret(shop.merchant, False, DAY)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        rolled = set(threads.map(roll, range(8)))
    assert len(rolled) == 8
    endless = [text for text, end in working(shop.merchant).items() if end is None]
    assert endless == [merchants.reveal_webhook_secret(shop.merchant.id, False)]
