"""Decisions on requests for approval: made once, by another operator, and refused where the row has changed since."""

from datetime import timedelta

import pytest

from payments import clock
from payments.domain.approvals import decide
from payments.domain.approvals.request import submit
from payments.domain.merchants.api_keys import find_key, revoke_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.routing import provider_accounts, routes
from payments.models import ApiKey, ApprovalRequest, AuditEntry, ProviderAccount, Route
from payments.tasks import run_sweep
from tests.approvals.factories import (
    NOTE,
    SECRET_KEY,
    approved,
    request_of,
    requested_account,
    requested_change,
    requested_key,
    requested_route,
    requested_route_change,
)
from tests.client import Api
from tests.concurrency import at_once
from tests.operators.corrections import operator
from tests.routing.doubles import KEY, Psp, route_to

pytestmark = pytest.mark.django_db


def test_an_approved_key_is_created_when_its_requester_takes_it(shop: NewMerchant) -> None:
    count = ApiKey.objects.count()
    request = approved(requested_key(shop.merchant))
    assert ApiKey.objects.count() == count
    _, text = decide.take_key(request, operator("ana"))
    assert Api(text).get("/me").status_code == 200
    assert (ApprovalRequest.objects.get().state, ApiKey.objects.count()) == ("done", count + 1)


def test_a_key_is_taken_once(shop: NewMerchant) -> None:
    request = approved(requested_key(shop.merchant))
    decide.take_key(request, operator("ana"))
    with pytest.raises(Refused, match="taken already"):
        decide.take_key(request, operator("ana"))


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_takes_of_a_key_one_succeeds(shop: NewMerchant) -> None:
    request, count = approved(requested_key(shop.merchant)), ApiKey.objects.count()

    def take(_: int) -> bool:
        try:
            decide.take_key(ApprovalRequest.objects.get(id=request.id), operator("ana"))
        except Refused:
            return False
        return True

    assert sorted(at_once(2, take)) == [False, True]
    assert ApiKey.objects.count() == count + 1


@pytest.mark.parametrize("name", ["ben", "carla"])
def test_only_the_requester_takes_a_key(shop: NewMerchant, name: str) -> None:
    request = approved(requested_key(shop.merchant))
    with pytest.raises(Refused, match="Only the requester may"):
        decide.take_key(request, operator(name))


def test_a_key_is_not_taken_before_it_is_approved(shop: NewMerchant) -> None:
    request = requested_key(shop.merchant)
    with pytest.raises(Refused):
        decide.take_key(request, operator("ana"))


def approved_roll(shop: NewMerchant) -> tuple[ApiKey, ApprovalRequest]:
    """Return a live key, and the approved request to roll it within two hours."""
    old = find_key(shop.keys["sk_live"])
    asked = {"key": str(old), "kind": old.kind, "rights": [], "hours": 2}
    request = request_of(shop.merchant, "roll_key", asked, subject_id=old.id)
    submit(request)
    approved(request)
    return old, request


def test_a_rolled_key_ends_after_the_overlap_from_when_the_new_one_is_taken(shop: NewMerchant) -> None:
    old, request = approved_roll(shop)
    old.refresh_from_db()
    assert old.expires_at is None
    _, text = decide.take_key(request, operator("ana"))
    old.refresh_from_db()
    assert old.expires_at
    assert Api(text).get("/me").status_code == 200


def test_a_key_that_was_revoked_meanwhile_is_not_rolled(shop: NewMerchant) -> None:
    old, request = approved_roll(shop)
    revoke_key(old)
    with pytest.raises(Refused, match="does not work any more"):
        decide.take_key(request, operator("ana"))


def test_an_approved_account_is_connected_with_what_the_requester_typed(shop: NewMerchant, north: Psp) -> None:
    request = approved(requested_account(shop.merchant, {"key": KEY}))
    made = ProviderAccount.objects.get()
    provider_accounts.connected(made)
    assert (made.title, made.livemode, made.settings, made.hints) == (
        "Requested",
        True,
        {"branch": "Cebu"},
        {"key": "6789"},
    )
    assert north.accounts[-1].credentials == {"key": KEY}
    assert (request.state, request.sealed_credentials) == ("done", None)


def test_an_approved_change_of_an_account_is_applied(account: ProviderAccount, north: Psp) -> None:
    approved(requested_change(account, {"key": "another-secret-key"}, settings={"branch": "Davao"}))
    changed = ProviderAccount.objects.get()
    provider_accounts.connected(changed)
    assert changed.settings == {"branch": "Davao"}
    assert north.accounts[-1].credentials == {"key": "another-secret-key"}


def test_a_change_of_an_account_that_was_changed_meanwhile_is_not_applied(account: ProviderAccount) -> None:
    request = requested_change(account, {}, title="Requested")
    provider_accounts.change_account(account, account.title, False, {}, {})
    with pytest.raises(Refused, match="changed since this was requested"):
        approved(request)
    assert ProviderAccount.objects.get().title == account.title
    assert ApprovalRequest.objects.get().state == "proposed"


def test_an_approved_route_is_added(account: ProviderAccount) -> None:
    approved(requested_route(account))
    route = Route.objects.get()
    assert (route.account, route.source_type, route.amount_min) == (account, "card", 2_000)
    assert AuditEntry.objects.about(route).get().action == "added"


def test_an_approved_change_of_a_route_is_applied(account: ProviderAccount) -> None:
    approved(requested_route_change(route_to(account), position=7, enabled=False))
    assert (Route.objects.get().position, Route.objects.get().enabled) == (7, False)


def test_a_change_of_a_route_that_was_changed_meanwhile_is_not_applied(account: ProviderAccount) -> None:
    route = route_to(account)
    request = requested_route_change(route, position=7)
    routes.change(Route.objects.get(), {"position": 3})
    with pytest.raises(Refused, match="changed since this was requested"):
        approved(request)
    assert Route.objects.get().position == 3


def test_an_approved_key_can_be_withdrawn_before_it_is_taken(shop: NewMerchant) -> None:
    request = approved(requested_key(shop.merchant))
    decide.withdraw(request, operator("ana"), "Not needed")
    with pytest.raises(Refused):
        decide.take_key(request, operator("ana"))


def test_an_approved_key_that_is_not_taken_expires(shop: NewMerchant) -> None:
    request = approved(requested_key(shop.merchant))
    ApprovalRequest.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    with pytest.raises(Refused):
        decide.take_key(request, operator("ana"))
    assert run_sweep("expire_action_requests") == 1
    assert ApprovalRequest.objects.get().state == "expired"


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_decisions_one_succeeds(shop: NewMerchant) -> None:
    request = requested_account(shop.merchant, {"key": KEY})
    deciders = [(decide.approve, "ben"), (decide.reject, "carla")]
    people = {name: operator(name) for _, name in deciders}

    def decided(number: int) -> bool:
        verb, name = deciders[number]
        try:
            verb(ApprovalRequest.objects.get(id=request.id), people[name], NOTE)
        except Refused:
            return False
        return True

    assert sorted(at_once(2, decided)) == [False, True]
    state = ApprovalRequest.objects.get().state
    assert ProviderAccount.objects.count() == (1 if state == "done" else 0)


def test_every_step_is_in_the_audit_log_with_both_operators(shop: NewMerchant) -> None:
    request = request_of(shop.merchant, "issue_key", SECRET_KEY | {"name": "Niña"})
    submit(request)
    name, text = decide.take_key(approved(request), operator("ana"))
    entries = AuditEntry.objects.about(request).order_by("id")
    assert [entry.action for entry in entries] == ["proposed", "approved", "done"]
    for entry in list(entries)[1:]:
        assert "requested by ana" in entry.detail
        assert "approved by ben" in entry.detail
        assert '"name": "Niña"' in entry.detail
    added = AuditEntry.objects.about(find_key(text)).get()
    assert added.reason == f"The shop opens on Monday (requested by ana, approved by ben: {NOTE})"
    assert name in entries[2].detail
    assert not [entry for entry in AuditEntry.objects.values() if text in str(entry)]
