"""What comes to the address of an account: kept as it is and answered at once, or refused and not kept."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from django.test import Client, RequestFactory
from pytest_django import Settings

from payments import vault
from payments.api.access import throttling
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.provider_events import inbox
from payments.domain.routing.provider_accounts import change_account
from payments.models import ProviderAccount, ProviderEvent, ProviderMessage
from payments.providers.base import NotFound
from payments.vault import Purpose, VaultUnavailable, WrappedKey
from tests.concurrency import at_once, statuses
from tests.provider_events.psp import (
    ANSWER,
    HEADER,
    WebhookPsp,
    approved,
    event_about,
    send,
    signed,
    signed_bytes,
    standing,
)
from tests.routing.doubles import Psp, account_at, installed

pytestmark = pytest.mark.django_db
NAME = "0" * 12 + "7" + "0" * 19


def test_a_signed_message_is_kept_as_it_came_and_answered_as_its_provider_wants(account: ProviderAccount) -> None:
    message = signed(event_about(NAME, approved()))
    response = send(account, message)

    assert (response.status_code, response.content.decode()) == (200, ANSWER)
    kept = ProviderMessage.objects.get()
    assert (kept.account, bytes(kept.body)) == (account, message[1])
    assert standing() == [("waiting", "")]


def test_a_message_wakes_a_worker_once(account: ProviderAccount, django_capture_on_commit_callbacks: Any) -> None:
    message = signed(event_about(NAME, approved()))
    with django_capture_on_commit_callbacks() as called:
        send(account, message)
        send(account, message)
    assert called.count(inbox.wake_worker) == 1


def test_what_signed_it_is_kept_nowhere(account: ProviderAccount) -> None:
    headers, body = signed(event_about(NAME, approved()))
    send(account, (headers, body))
    rows = str(list(ProviderMessage.objects.values()) + list(ProviderEvent.objects.values()))
    assert headers[HEADER] not in rows


@pytest.mark.parametrize("headers", [{}, {HEADER: ""}, {HEADER: "0" * 64}], ids=["none", "empty", "wrong"])
def test_a_message_with_a_wrong_signature_is_refused_and_not_kept(
    account: ProviderAccount, headers: dict[str, str]
) -> None:
    response = send(account, (headers, signed(event_about(NAME, approved()))[1]))
    assert (response.status_code, response["Content-Type"]) == (401, "text/plain; charset=utf-8")
    assert not ProviderMessage.objects.exists()


def test_a_message_signed_for_another_body_is_refused(account: ProviderAccount) -> None:
    headers, body = signed(event_about(NAME, approved()))
    assert send(account, (headers, body + b" ")).status_code == 401


@pytest.mark.parametrize("account_id", ["pac_" + "0" * 32, "nobody", "pac_", "%00"])
def test_an_address_of_no_account_is_unknown(account: ProviderAccount, account_id: str) -> None:
    headers, body = signed(event_about(NAME, approved()))
    path = f"/providers/{account_id}/webhooks"
    response = Client().generic("POST", path, body, content_type="application/json", headers=headers)
    assert response.status_code == 404


def test_the_address_of_an_account_whose_connector_is_not_installed_any_more_is_unknown(shop: NewMerchant) -> None:
    with installed(Psp("gone")) as gone:
        account = account_at(gone, shop.merchant)
    assert send(account, signed(event_about(NAME, approved()))).status_code == 404


def test_only_a_post_brings_a_message(account: ProviderAccount) -> None:
    assert Client().get(f"/providers/{account.public_id}/webhooks").status_code == 405


def test_a_message_that_is_too_long_is_refused(account: ProviderAccount) -> None:
    body = b" " * (django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    assert send(account, signed_bytes(body)).status_code == 413


def test_one_address_that_floods_is_asked_to_wait_and_stops_no_other(
    account: ProviderAccount, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TRUSTED_PROXIES = 1
    monkeypatch.setattr(throttling, "WEBHOOK_RATE", "2/year")
    headers, body = signed(event_about(NAME, approved()))

    def sent_from(address: str, mark: str = "") -> Any:
        return send(account, ({**headers, HEADER: mark or headers[HEADER], "X-Forwarded-For": address}, body))

    flood = [sent_from("198.51.100.7", "0" * 64) for _ in range(3)]
    assert [answer.status_code for answer in flood] == [401, 401, 429]
    assert 0 < int(flood[-1]["Retry-After"]) <= 360 * 86_400
    assert sent_from("203.0.113.9").status_code == 200


def test_a_message_beyond_the_rate_is_refused_before_it_is_read_or_the_database_is_asked(
    account: ProviderAccount, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(throttling, "WEBHOOK_RATE", "1/year")
    too_long = signed_bytes(b" " * (django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1))
    assert send(account, too_long).status_code == 413
    with django_assert_num_queries(0):
        assert send(account, too_long).status_code == 429


def test_a_burst_of_a_provider_passes() -> None:
    request = RequestFactory().post("/providers/pac_1/webhooks")
    assert all(throttling.count_webhook(request).allowed for _ in range(300))


def test_a_message_that_comes_again_is_kept_once_and_answered_again(account: ProviderAccount) -> None:
    message = signed(event_about(NAME, approved()))
    assert {send(account, message).status_code for _ in range(3)} == {200}
    assert ProviderMessage.objects.count() == ProviderEvent.objects.count() == 1


def test_a_message_without_a_mark_that_comes_again_reports_once(account: ProviderAccount) -> None:
    message = signed(replace(event_about(NAME, approved()), key=""))
    for _ in range(2):
        send(account, message)
    assert ProviderEvent.objects.count() == 1


def test_what_is_reported_again_in_another_message_is_one_report(account: ProviderAccount) -> None:
    announced = event_about(NAME, approved())
    send(account, signed(announced))
    send(account, signed(announced, event_about(NAME, NotFound())))
    assert (ProviderMessage.objects.count(), ProviderEvent.objects.count()) == (2, 2)


def test_accounts_do_not_share_the_marks_of_what_was_reported(
    account: ProviderAccount, psp: WebhookPsp, other_shop: NewMerchant
) -> None:
    other = account_at(psp, other_shop.merchant)
    for each in (account, other):
        send(each, signed(event_about(NAME, approved())))
    assert ProviderEvent.objects.count() == 2


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"items": ['], ids=["empty", "cut", "binary", "open"])
def test_a_signed_message_that_cannot_be_read_is_kept_for_operators(account: ProviderAccount, body: bytes) -> None:
    assert send(account, signed_bytes(body)).status_code == 200
    [(state, why)] = standing()
    assert state == "needs_attention"
    assert why.startswith("It cannot be read")


def test_a_nul_in_what_is_reported_keeps_nothing_from_being_kept(account: ProviderAccount) -> None:
    announced = event_about("\x00" * 300, approved("psp\x00_1"))
    assert send(account, signed(announced)).status_code == 200
    assert standing() == [("waiting", "")]


def test_an_account_that_takes_no_new_payments_still_receives_the_old_ones(account: ProviderAccount) -> None:
    change_account(account, account.title, False, {}, account.settings)
    assert send(account, signed(event_about(NAME, approved()))).status_code == 200


class Unreachable(DatabaseKeyStore):
    """A store of data keys that cannot be asked at the moment."""

    def find(self, purpose: Purpose, key_id: UUID) -> WrappedKey | None:
        raise VaultUnavailable("down")


def test_a_message_whose_signature_cannot_be_checked_is_to_be_sent_again(account: ProviderAccount) -> None:
    vault.use_store(Unreachable())
    try:
        response = send(account, signed(event_about(NAME, approved())))
    finally:
        vault.use_store(DatabaseKeyStore())
    assert (response.status_code, response["Retry-After"]) == (503, "60")
    assert not ProviderMessage.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_message_that_comes_many_times_at_once_is_kept_once(account: ProviderAccount) -> None:
    message = signed(event_about(NAME, approved()), event_about(NAME, NotFound()))
    assert statuses(at_once(6, lambda _: send(account, message))) == {200: 6}
    assert (ProviderMessage.objects.count(), ProviderEvent.objects.count()) == (1, 2)


def test_a_message_may_report_nothing_of_use(account: ProviderAccount) -> None:
    assert send(account, signed_bytes(json.dumps({"items": []}).encode())).status_code == 200
    assert not ProviderEvent.objects.exists()
