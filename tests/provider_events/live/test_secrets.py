"""What is logged while charges go to a provider and back, whatever it answers."""

import base64
import logging
import re
from dataclasses import replace

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.routing import provider_accounts
from tests.charging.elapsed_time import recover
from tests.provider_events.live.world import WORLDS, World
from tests.provider_events.psp import send
from tests.providers.bench import CARD, Spoilt

pytestmark = [pytest.mark.django_db, pytest.mark.long]

ANSWERED = [how for how in Spoilt if how is not Spoilt.DELAYED]
CVC = "7391"
USUAL = vars(logging.makeLogRecord({})).keys() - {"exc_text", "stack_info"}


def go_through(world: World, how: Spoilt) -> None:
    """Make a payment, a capture and a refund, each answered so, then look them up."""
    source = world.card_source(replace(CARD, cvc=CVC))
    world.spoil_next(how)
    world.live.charge_source(source, capture=False)
    recover()
    charge = world.live.held()
    for verb in ("capture", "refund"):
        world.spoil_next(how)
        world.live.post(f"/charges/{charge['id']}/{verb}", {})
        world.happen()
        recover()


def be_forged(world: World) -> None:
    """Somebody sends a webhook who is not the provider."""
    world.bench.fake.calm()
    world.live.held()
    [webhook, *_] = world.bench.webhooks()
    headers, body = world.bench.forge(webhook)
    assert send(world.account, (dict(headers), body)).status_code == 401


def be_unknown(world: World, credentials: dict[str, str]) -> None:
    """Make the account's credentials invalid at the provider."""
    account = world.account
    provider_accounts.change_account(account, account.title, True, credentials, account.settings)
    account.refresh_from_db()
    provider_accounts.try_credentials(account)
    assert world.live.charge()["failure_data"]["code"] == "processing_error"


def shown(record: logging.LogRecord) -> str:
    """All that a log line may show but what the library adds by itself."""
    announced = {name: value for name, value in vars(record).items() if name not in USUAL}
    return f"{record.getMessage()} {announced} {record.exc_info}"


@pytest.mark.parametrize("provider", WORLDS)
def test_no_key_and_no_card_is_logged_whatever_the_provider_answers(
    provider: str, shop: NewMerchant, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with WORLDS[provider](shop) as world:
        keys = world.credentials
        others = {name: f"{'abad1dea' * 8}{number:02x}" for number, name in enumerate(keys)}
        for how in ANSWERED:
            go_through(world, how)
        be_forged(world)
        be_unknown(world, others)
    announced = caplog.text + "".join(shown(record) for record in caplog.records)
    sent = [base64.b64encode(f"{key}:".encode()).decode() for key in (*keys.values(), *others.values())]
    assert "provider asked" in announced
    assert "attempt resolved" in announced
    assert [secret for secret in (*keys.values(), *others.values(), *sent, CARD.number) if secret in announced] == []
    assert re.search(rf"(?<![\w.]){CVC}(?!\w)", announced) is None
