"""Every text column says how it keeps card numbers out, and every way to write it keeps to that."""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client

from payments.db.columns import prepared
from payments.db.texts.declared import DECLARED, OF_LINES, Rule
from payments.db.texts.writes import TextRefused, kept, no_card_number, one_line, rule_of
from payments.domain.merchants.merchants import NewMerchant
from payments.models import FeeTemplate, Notification, ProviderMessage, ReconciliationItem
from tests.canaries.misplaced import NUMBER
from tests.merchant_site.conftest import owner  # noqa: F401  who sets a title


def texts() -> Iterator[Any]:
    """Yield every column that may hold a text, of every installed model."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.local_concrete_fields:
            if rule_of(field) is not None:
                yield field


def holding(field: Any) -> Any:
    """Return a value of this column with a card number in it."""
    if isinstance(field, models.JSONField):
        return {"a": [f"paid by {NUMBER}"]}
    if isinstance(field, models.BinaryField):
        return NUMBER.encode()
    return [NUMBER] if isinstance(field, ArrayField) else NUMBER


def test_what_is_declared_is_a_text_column_and_declared_once() -> None:
    for label, declared in DECLARED.items():
        model = apps.get_model(label)
        names = [name for names in declared.values() for name in names.split()]
        assert len(names) == len(set(names)), label
        assert [name for name in names if rule_of(model._meta.get_field(name)) is None] == [], label


def test_a_text_column_refuses_or_hides_a_card_number_or_says_why_it_cannot_hold_one() -> None:
    for field in texts():
        keeps_numbers_out(field)


def keeps_numbers_out(field: Any) -> None:
    rule = rule_of(field)
    if rule is Rule.REFUSED:
        with pytest.raises(TextRefused) as refused:
            prepared(field.model, {field.attname: holding(field)}, connection)
        assert NUMBER not in str(refused.value), field
        assert no_card_number in field.validators, field
    elif rule is Rule.HIDDEN:
        assert NUMBER not in str(prepared(field.model, {field.attname: holding(field)}, connection)), field
    else:
        declared = DECLARED[field.model._meta.label]
        assert any(field.name in names.split() for names in declared.values()), field


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x85", "\u2028", "\u202e", "\u061c", "\ufeff", "\u2060"])
def test_a_name_or_title_of_any_model_is_of_one_line(end: str) -> None:
    for field in texts():
        if rule_of(field) is Rule.REFUSED and isinstance(field, models.CharField) and field.name not in OF_LINES:
            with pytest.raises(TextRefused, match="line end"):
                prepared(field.model, {field.attname: f"Sari{end}Bcc: x"}, connection)
            assert one_line in field.validators, field


@pytest.mark.django_db
def test_a_command_and_a_page_refuse_a_title_of_two_lines(owner: Client, shop: NewMerchant) -> None:  # noqa: F811
    with pytest.raises(CommandError, match="title: This holds a line end"):
        call_command("merchant", "create", "Sari\nStore")
    address = f"/merchant/payments/merchant/{shop.merchant.pk}/change/?edit=1"
    assert b"holds a line end" in owner.post(address, {"title": "Sari\nStore"}).content
    shop.merchant.refresh_from_db()
    assert "\n" not in shop.merchant.title


def test_bytes_are_declared() -> None:
    of_bytes = [field for field in texts() if isinstance(field, models.BinaryField)]
    assert [field for field in of_bytes if rule_of(field) is Rule.REFUSED] == []


def test_a_sealed_column_is_named_so() -> None:
    for field in texts():
        assert (rule_of(field) is Rule.SEALED) == (field.name.startswith("sealed") or field.name == "wrapped"), field


@pytest.mark.django_db
@pytest.mark.parametrize(
    "write",
    [
        lambda: User.objects.create(username=NUMBER),
        lambda: User.objects.bulk_create([User(username=f"card:{NUMBER}")]),
        lambda: User.objects.update(first_name=NUMBER),
        lambda: User.objects.update(first_name=Concat(F("username"), Value(NUMBER))),
        lambda: User.objects.update_or_create(username="a", defaults={"email": f"{NUMBER}@shop.example"}),
        lambda: FeeTemplate.objects.create(title="Standard", rates={"card": {NUMBER: 1}}),
        lambda: ReconciliationItem.objects.update(note="a\0b"),
        lambda: User.objects.update(first_name="\ud800"),
    ],
)
def test_no_call_of_the_orm_stores_what_a_column_refuses(write: Any) -> None:
    with pytest.raises(TextRefused):
        write()


@pytest.mark.django_db
def test_several_rows_are_updated_with_the_same_look() -> None:
    user = User.objects.create(username="ana")
    user.first_name = NUMBER
    with pytest.raises(TextRefused):
        User.objects.bulk_update([user], ["first_name"])


@pytest.mark.django_db
def test_what_others_sent_is_stored_without_the_card_number() -> None:
    field = Notification._meta.get_field("text")
    assert kept(field, f"by {NUMBER}, thanks") == "by [redacted], thanks"
    assert kept(field, "by 4973%3a9160%3a2851%3a1998") == "[redacted]"
    assert kept(field, "a\0b") == "a\ufffdb"
    assert kept(field, "reference 12345678901234") == "reference 12345678901234"
    agent = UserSession._meta.get_field("user_agent")
    assert kept(agent, f"Firefox {NUMBER}".rjust(201, "a")[:200]).endswith("aFirefox [redacted]")
    body = ProviderMessage._meta.get_field("body")
    assert kept(body, b'{"a":"\xff' + NUMBER.encode() + b'"}') == b'{"a":"\xff[redacted]"}'


def test_a_model_is_not_valid_with_a_card_number() -> None:
    with pytest.raises(ValidationError) as refused:
        FeeTemplate(title=NUMBER, rates={}).clean_fields()
    assert "title" in refused.value.message_dict
