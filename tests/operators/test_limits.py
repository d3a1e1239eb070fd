"""Approval limits: how much one operator gives back alone."""

import pytest
from django.contrib.auth.models import Group, User
from hypothesis import given
from hypothesis import strategies as st

from payments.domain.approvals import verbs
from payments.domain.approvals.limits import limit_of, may_be_done_alone
from payments.models import ApprovalLimit
from payments.staff.roles import LIMITS, make_roles

AMOUNTS = st.integers(1, 10**11)
LIMITS_OF_ANYBODY = st.none() | st.integers(0, 10**11)
OUTWARD = st.sampled_from(verbs.OUTWARD)


@given(OUTWARD, AMOUNTS, st.integers(0, 10**11), LIMITS_OF_ANYBODY)
def test_no_more_than_the_limit_is_given_back_alone(kind: str, amount: int, already: int, limit: int | None) -> None:
    assert may_be_done_alone(kind, amount, already, limit) == (limit is not None and already + amount <= limit)


@given(st.sampled_from(["capture", "release"]), AMOUNTS, st.integers(0, 10**11), LIMITS_OF_ANYBODY)
def test_an_action_that_gives_nothing_back_needs_no_limit(
    kind: str, amount: int, already: int, limit: int | None
) -> None:
    assert may_be_done_alone(kind, amount, already, limit)


@given(OUTWARD, st.lists(AMOUNTS, max_size=8), st.integers(0, 10**11))
def test_parts_count_together_towards_the_limit(kind: str, parts: list[int], limit: int) -> None:
    given_back = 0
    for part in parts:
        given_back += part if may_be_done_alone(kind, part, given_back, limit) else 0
    assert given_back <= limit


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create(username="ana", is_staff=True)


def test_an_operator_has_the_highest_limit_of_their_roles(ana: User) -> None:
    ana.groups.set(Group.objects.filter(name__in=["support", "finance", "viewer"]))
    assert limit_of(ana, "PHP") == LIMITS["finance"]["PHP"]


def test_an_operator_without_a_role_has_no_limit(ana: User) -> None:
    assert limit_of(ana, "PHP") is None


def test_another_currency_has_no_limit(ana: User) -> None:
    ana.groups.set(Group.objects.all())
    assert limit_of(ana, "JPY") is None


def test_a_superuser_has_the_highest_limit_of_all_roles(ana: User) -> None:
    ana.is_superuser = True
    ApprovalLimit.objects.filter(role__name="support", currency="PHP").update(amount=99_999_999)
    assert limit_of(ana, "PHP") == 99_999_999


def test_what_an_administrator_set_stays_after_a_migration(ana: User) -> None:
    ApprovalLimit.objects.filter(role__name="support", currency="PHP").update(amount=0)
    make_roles()
    assert ApprovalLimit.objects.get(role__name="support", currency="PHP").amount == 0
