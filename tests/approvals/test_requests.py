"""Requests for approval: stored with sealed credentials, refused where the change is impossible, limited in number."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from payments.domain.approvals import limits
from payments.domain.approvals.executors import opened_credentials
from payments.domain.approvals.kinds.changes import OPEN_REQUESTS_MAX
from payments.domain.approvals.request import submit
from payments.domain.maintenance import key_rotation, reseal
from payments.domain.merchants.api_keys import BadKey
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.routing.provider_accounts import BadAccount
from payments.domain.routing.routes import BadRoute
from payments.models import ApiKey, ApprovalRequest, AuditEntry, ProviderAccount, Route
from tests.approvals.factories import (
    CARDS,
    REASON,
    SECRET_KEY,
    request_of,
    requested_account,
    requested_change,
    requested_key,
)
from tests.concurrency import at_once
from tests.operators.corrections import operator
from tests.routing.doubles import KEY

pytestmark = pytest.mark.django_db


def test_a_request_changes_nothing(shop: NewMerchant) -> None:
    keys = ApiKey.objects.count()
    requested_key(shop.merchant)
    requested_account(shop.merchant, {"key": KEY})
    assert (ApiKey.objects.count(), ProviderAccount.objects.count()) == (keys, 0)


def test_entered_credentials_are_sealed(shop: NewMerchant) -> None:
    request = requested_account(shop.merchant, {"key": KEY, "token": ""})
    kept = ApprovalRequest.objects.get()
    assert KEY.encode() not in bytes(kept.sealed_credentials or b"")
    assert KEY not in str(vars(kept))
    assert opened_credentials(request) == {"key": KEY}
    assert not [entry for entry in AuditEntry.objects.values() if KEY in str(entry)]


def test_sealed_credentials_open_only_for_their_own_request(shop: NewMerchant) -> None:
    one, other = (requested_account(shop.merchant, {"key": KEY + digit}) for digit in "12")
    other.sealed_credentials = one.sealed_credentials
    with pytest.raises(Exception, match="moved from its place"):
        opened_credentials(other)


def test_the_audit_log_has_the_change_and_its_requester(account: ProviderAccount) -> None:
    request = requested_change(account, {"key": KEY}, settings={"branch": "Davao"})
    entry = AuditEntry.objects.about(request).get()
    assert (entry.action, entry.reason) == ("proposed", REASON)
    for part in ("requested by ana", '"settings": {"branch": "Davao"}', '"settings": {}'):
        assert part in entry.detail


@pytest.mark.parametrize("rights", [["charges:pay"], []], ids=["unknown right", "no right"])
def test_an_impossible_key_is_refused_when_it_is_requested(shop: NewMerchant, rights: list[str]) -> None:
    asked = SECRET_KEY | {"kind": "restricted", "rights": rights}
    with pytest.raises(BadKey):
        submit(request_of(shop.merchant, "issue_key", asked))
    assert not ApprovalRequest.objects.exists()


def test_an_impossible_account_is_refused_when_it_is_requested(shop: NewMerchant) -> None:
    with pytest.raises(BadAccount):
        requested_account(shop.merchant, {})
    assert not ApprovalRequest.objects.exists()


def test_new_settings_without_credentials_are_refused_when_they_are_requested(account: ProviderAccount) -> None:
    with pytest.raises(BadAccount) as refused:
        requested_change(account, {}, settings={"branch": "Davao"})
    assert refused.value.field == "key"


def test_an_impossible_route_is_refused_when_it_is_requested(account: ProviderAccount) -> None:
    with pytest.raises(BadRoute):
        submit(request_of(account.merchant, "add_route", {"account": str(account.id), **CARDS, "amount_max": 1_000}))
    assert (Route.objects.count(), ApprovalRequest.objects.count()) == (0, 0)


def test_an_account_has_one_open_request_at_most(account: ProviderAccount) -> None:
    requested_change(account, {}, title="One")
    with pytest.raises(Refused, match="open request about this"):
        requested_change(account, {}, title="Two")


def test_a_reason_with_a_card_number_is_refused(shop: NewMerchant) -> None:
    with pytest.raises(ValidationError):
        requested_key(shop.merchant, reason="For 4242424242424242")


def test_an_operator_has_a_limited_number_of_open_requests(shop: NewMerchant) -> None:
    for _ in range(OPEN_REQUESTS_MAX):
        requested_key(shop.merchant)
    with pytest.raises(Refused, match="open requests"):
        requested_key(shop.merchant)
    requested_key(shop.merchant, proposed_by=operator("carla"))


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_stay_within_the_limit(shop: NewMerchant) -> None:
    for _ in range(OPEN_REQUESTS_MAX - 1):
        requested_key(shop.merchant)

    def submit(_: int) -> bool:
        try:
            requested_key(shop.merchant)
        except Refused:
            return False
        return True

    assert sorted(at_once(4, submit)) == [False, False, False, True]


@pytest.mark.django_db(transaction=True)
def test_the_rotation_of_keys_reaches_requested_credentials(shop: NewMerchant) -> None:
    requested_account(shop.merchant, {"key": KEY})
    before = bytes(ApprovalRequest.objects.get().sealed_credentials or b"")
    key_rotation.retire_data_keys()
    reseal.reseal_some()
    request = ApprovalRequest.objects.get()
    assert bytes(request.sealed_credentials or b"")[:17] != before[:17]
    assert opened_credentials(request) == {"key": KEY}


@pytest.mark.parametrize(
    ("livemode", "kind", "rights", "expected"),
    [
        (True, "secret", [], True),
        (True, "restricted", ["charges:write"], True),
        (True, "restricted", ["charges:read", "refunds:write"], True),
        (True, "restricted", ["charges:read", "sources:write"], False),
        (True, "publishable", [], False),
        (False, "secret", [], False),
        (False, "restricted", ["refunds:write"], False),
    ],
)
def test_only_live_keys_that_move_money_need_an_approver(
    livemode: bool, kind: str, rights: list[str], expected: bool
) -> None:
    assert limits.key_needs_approval(livemode, kind, rights) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"enabled": False}, False),
        ({"enabled": False, "title": "Other"}, True),
        ({"enabled": False, "credentials": {"key": KEY}}, True),
        ({"title": "Other"}, True),
        ({"settings": {"branch": "Davao"}}, True),
        ({"credentials": {"key": KEY}}, True),
    ],
    ids=str,
)
def test_only_switching_a_live_account_off_needs_no_approver(
    account: ProviderAccount, change: dict[str, object], expected: bool
) -> None:
    given: dict[str, object] = {"title": account.title, "enabled": True, "credentials": {"key": ""}, "settings": {}}
    assert limits.account_change_needs_approval(account, **(given | change)) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "members",
    [
        {"state": "done"},
        {"state": "approved"},
        {"state": "rejected"},
        {"reason": " "},
        {"kind": "issue_money"},
        {"state": "withdrawn"},
    ],
    ids=["nobody decided", "no key", "rejected by nobody", "no reason", "kind", "credentials stay"],
)
def test_the_database_refuses_an_inconsistent_request(shop: NewMerchant, members: dict[str, object]) -> None:
    request = requested_account(shop.merchant, {"key": KEY})
    with pytest.raises(IntegrityError), transaction.atomic():
        ApprovalRequest.objects.filter(id=request.id).update(**members)
