"""Against a fake of the transit engine's HTTP interface, not against a real Vault."""

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.core.management import call_command

from payments import vault
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.models import Attempt, Card, Charge, CvcKey, DataKey, IdempotencyRecord, Source, Webhook, WebhookAttempt
from payments.vault import Purpose, VaultUnavailable, key_wraps
from payments.webhooks.worker import DeliveryLoop
from tests.charging.elapsed_time import recover
from tests.client import CHALLENGED, Api, error_of, made
from tests.contract.calls import CARD_SOURCE, order
from tests.support.http_server import NOBODY, Silence, answering
from tests.vault.engine import TOKEN, Engine, running

pytestmark = pytest.mark.long

OLD = "old:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="


@pytest.fixture
def engine(settings: Any, tmp_path: Path) -> Iterator[Engine]:
    """Yield the engine that has kaha's key-encryption key."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    engine = Engine()
    with running(engine):
        settings.VAULT_TRANSIT_URL, settings.VAULT_TRANSIT_TOKEN_FILE = engine.url, str(file)
        yield engine


@pytest.fixture
def fresh(no_keys: None, engine: Engine) -> Engine:
    """Return the engine, without any data key yet."""
    return engine


def test_the_engine_unwraps_its_wrapped_keys(engine: Engine) -> None:
    key = key_wraps.new_key(Purpose.CARD)
    assert key.kek == "transit:kaha:v1"
    assert len(key_wraps.unwrap(key)) == 32
    assert engine.asked == ["/v1/transit/encrypt/kaha", "/v1/transit/decrypt/kaha"]


@pytest.mark.parametrize("change", [{"purpose": Purpose.SECRET}, {"id": UUID(int=1)}], ids=["purpose", "id"])
def test_a_wrapped_key_is_bound_to_its_row(engine: Engine, change: dict[str, Any]) -> None:
    with pytest.raises(VaultUnavailable):
        key_wraps.unwrap(replace(key_wraps.new_key(Purpose.CARD), **change))


def test_a_rewrapped_key_has_the_newest_version(engine: Engine) -> None:
    key = key_wraps.new_key(Purpose.CARD)
    plain = key_wraps.unwrap(key)
    engine.rotate()
    again = vault.rewrap(key)
    engine.least_version = 2
    assert (again.kek, key_wraps.unwrap(again)) == ("transit:kaha:v2", plain)
    with pytest.raises(VaultUnavailable):
        key_wraps.unwrap(key)


def test_keys_wrapped_locally_can_be_rewrapped(settings: Any, engine: Engine) -> None:
    url, settings.VAULT_TRANSIT_URL, settings.VAULT_KEYS = settings.VAULT_TRANSIT_URL, "", OLD
    key = key_wraps.new_key(Purpose.CARD)
    plain = key_wraps.unwrap(key)
    settings.VAULT_TRANSIT_URL = url
    taken = vault.rewrap(key)
    settings.VAULT_KEYS = ""
    assert (taken.kek, key_wraps.unwrap(taken)) == ("transit:kaha:v1", plain)


@pytest.mark.parametrize(
    "failure",
    [403, 404, 429, 500, 503, b"", b"not json", b"[]", b"{}", b'{"data": null}', b'{"data": {"ciphertext": 7}}'],
    ids=str,
)
def test_a_malformed_answer_makes_the_key_unavailable(engine: Engine, failure: int | bytes) -> None:
    engine.failure = failure
    with pytest.raises(VaultUnavailable):
        key_wraps.new_key(Purpose.CARD)


def test_a_silent_server_makes_the_key_unavailable(settings: Any, engine: Engine) -> None:
    with answering(lambda _: Silence.HUNG) as silent:
        settings.VAULT_TRANSIT_URL = silent.address
        with pytest.raises(VaultUnavailable, match="Timeout"):
            key_wraps.new_key(Purpose.CARD)


def test_a_refused_connection_makes_the_key_unavailable(settings: Any, engine: Engine) -> None:
    settings.VAULT_TRANSIT_URL = NOBODY
    with pytest.raises(VaultUnavailable):
        key_wraps.new_key(Purpose.CARD)


def test_a_token_that_is_missing_or_expired_makes_the_key_unavailable_until_its_file_is_renewed(
    settings: Any, engine: Engine
) -> None:
    file = Path(settings.VAULT_TRANSIT_TOKEN_FILE)
    file.unlink()
    with pytest.raises(VaultUnavailable):
        key_wraps.new_key(Purpose.CARD)
    file.write_text("expired")
    with pytest.raises(VaultUnavailable):
        key_wraps.new_key(Purpose.CARD)
    file.write_text(TOKEN)
    key_wraps.new_key(Purpose.CARD)


def test_the_error_shows_neither_token_nor_key(engine: Engine) -> None:
    engine.failure = 500
    with pytest.raises(VaultUnavailable) as failure:
        key_wraps.new_key(Purpose.CARD)
    assert TOKEN not in f"{failure.value!r} {failure.value.__cause__!r}"


def test_a_payment_works(fresh: Engine, api: Api) -> None:
    assert api.charge()["status"] == "succeeded"
    assert set(DataKey.objects.values_list("kek", flat=True)) == {"transit:kaha:v1"}
    assert CvcKey.objects.get().kek == "transit:kaha:v1"


def test_cached_keys_need_no_request(fresh: Engine, api: Api) -> None:
    api.charge()
    asked = len(fresh.asked)
    for _ in range(3):
        api.charge()
    assert len(fresh.asked) == asked


def test_a_card_that_cannot_be_sealed_is_503_and_not_there(fresh: Engine, api: Api) -> None:
    fresh.failure = 503
    response = api.post("/sources/", CARD_SOURCE, "once")
    assert (response.status_code, error_of(response)["code"]) == (503, "vault_unavailable")
    assert response["Retry-After"] == "1"
    assert not Source.objects.exists()
    assert not Card.objects.exists()

    fresh.failure = None
    assert made(api.post("/sources/", CARD_SOURCE, "once"))["card"]["last4"] == CARD_SOURCE["card"]["number"][-4:]


def test_a_card_that_cannot_be_opened_is_503_and_uses_nothing_up(fresh: Engine, api: Api) -> None:
    source = api.source()
    vault.use_store(DatabaseKeyStore())
    fresh.failure = 503
    response = api.post("/charges/", order(source), "once")
    assert (response.status_code, error_of(response)["code"]) == (503, "vault_unavailable")
    assert not Charge.objects.exists()
    assert not IdempotencyRecord.objects.exists()

    fresh.failure = None
    assert made(api.post("/charges/", order(source), "once"))["status"] == "succeeded"


def test_a_payer_who_comes_back_meanwhile_pays_when_the_card_can_be_opened(fresh: Engine, api: Api) -> None:
    charge = api.charge(CHALLENGED)
    vault.use_store(DatabaseKeyStore())
    fresh.failure = 503
    answer = api.client.post(urlsplit(charge["action"]["url"]).path, {"decision": "pay"})
    assert api.client.get(urlsplit(answer["Location"]).path).status_code == 200
    assert Attempt.objects.get().state == Attempt.State.WAITING

    fresh.failure = None
    recover()

    assert api.read(charge)["status"] == "succeeded"


def test_after_rewrapping_the_old_version_is_not_needed(fresh: Engine, api: Api) -> None:
    source = api.source()
    fresh.rotate()
    call_command("rotate_vault_keys", stdout=StringIO())
    fresh.least_version = 2
    vault.use_store(DatabaseKeyStore())
    assert api.charge_source(source)["status"] == "succeeded"


def test_callbacks_that_cannot_be_signed_wait(fresh: Engine, api: Api) -> None:
    hook = {"success": "https://shop.example/", "fail": "https://shop.example/", "notify": "https://shop.example/hook"}
    api.charge_source(api.source(redirect=hook))
    vault.use_store(DatabaseKeyStore())
    fresh.failure = 503
    with pytest.raises(VaultUnavailable):
        DeliveryLoop().run()
    assert not WebhookAttempt.objects.exists()
    assert {row.state for row in Webhook.objects.all()} == {"waiting"}
