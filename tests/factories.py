"""Factories of rows in given states, without the API calls that lead to them.

The provider does not know these charges, and they have no events: to capture, void or refund a charge, create it by
the API. To render a charge, read it again by `Charge.objects.whole()`.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import factory
from django.contrib.auth.models import User
from factory.django import DjangoModelFactory

from payments import clock
from payments.domain.cards.card_data import new_card
from payments.domain.merchants.api_keys import create_key
from payments.models import (
    ApiKey,
    Attempt,
    Card,
    Charge,
    FileSchedule,
    Merchant,
    Refund,
    SavedView,
    SentFile,
    Source,
)
from payments.providers.base import Declined
from payments.providers.failure_data import failure_data

AMOUNT = 10_000


class MerchantFactory(DjangoModelFactory[Merchant]):
    class Meta:
        model = Merchant

    title = factory.Sequence(lambda number: f"Store {number}")
    account_name = factory.SelfAttribute("title")
    statement_descriptor = factory.SelfAttribute("title")


class ApiKeyFactory(DjangoModelFactory[ApiKey]):
    """A working secret test key by default; its `text` is what a merchant sends."""

    class Meta:
        model = ApiKey

    merchant = factory.SubFactory(MerchantFactory)
    livemode = False
    kind = ApiKey.Kind.SECRET

    @classmethod
    def _create(
        cls,
        model_class: type[ApiKey],
        merchant: Merchant,
        livemode: bool,
        kind: str,
        rights: Iterable[str] = (),
        networks: Iterable[str] = (),
        **columns: Any,
    ) -> ApiKey:
        key, key.text = create_key(merchant, livemode, kind, rights=rights, networks=networks)
        for name, value in columns.items():
            setattr(key, name, value)
        key.save()
        return key


class CardFactory(DjangoModelFactory[Card]):
    """A card as a payer types it (`number`, `cvc`, `exp_month`, …), sealed into its row."""

    class Meta:
        model = Card

    number = "4000000000003055"
    cvc = "123"
    name = "Juan dela Cruz"
    exp_month = "12"
    exp_year = "2039"

    @classmethod
    def _create(cls, model_class: type[Card], source: Source, **card: str) -> Card:
        row = new_card(source, card)
        row.save(force_insert=True)
        return row


class SourceFactory(DjangoModelFactory[Source]):
    """An unused card of a new merchant by default (`type`, `merchant`, `used`, `card__number`, …)."""

    class Meta:
        model = Source
        skip_postgeneration_save = True

    merchant = factory.SubFactory(MerchantFactory)
    livemode = False
    type = "card"

    class Params:
        is_vaulted = factory.Trait(used=True, vaulted=True)

    @factory.post_generation
    def card(self: Source, create: bool, extracted: None, **card: str) -> None:
        if self.type == "card":
            CardFactory(source=self, **card)


class AttemptFactory(DjangoModelFactory[Attempt]):
    """An approved authorization by default."""

    class Meta:
        model = Attempt

    merchant = factory.SelfAttribute("charge.merchant")
    kind = Attempt.Kind.AUTHORIZE
    provider = "simulator"
    amount = factory.SelfAttribute("charge.amount")
    state = Attempt.State.DONE
    outcome = "Approved"


class RefundFactory(DjangoModelFactory[Refund]):
    """A succeeded refund, by default of the whole charge."""

    class Meta:
        model = Refund

    merchant = factory.SelfAttribute("charge.merchant")
    livemode = factory.SelfAttribute("charge.livemode")
    amount = factory.SelfAttribute("charge.amount_refunded")
    currency = factory.SelfAttribute("charge.currency")
    reason = "requested_by_customer"
    status = Refund.Status.SUCCEEDED


class ChargeFactory(DjangoModelFactory[Charge]):
    """A charge at one stage, named by a trait: `ChargeFactory(is_held=True)`.

    Stages: `is_unknown` (the provider has not answered), `is_awaiting_payer`, `is_failed`, `is_held`, `is_captured`,
    `is_voided`, `is_part_refunded`, `is_refunded`.
    """

    class Meta:
        model = Charge
        skip_postgeneration_save = True

    merchant = factory.SubFactory(MerchantFactory)
    livemode = False
    source = factory.SubFactory(
        SourceFactory,
        merchant=factory.SelfAttribute("..merchant"),
        livemode=factory.SelfAttribute("..livemode"),
        used=True,
    )
    single_use = factory.LazyAttribute(lambda charge: not charge.source.vaulted)
    initiator = factory.LazyAttribute(lambda charge: "merchant" if charge.source.vaulted else "customer")
    amount = AMOUNT
    currency = "PHP"
    description = "Two sacks of rice"
    statement_descriptor = factory.SelfAttribute("merchant.statement_descriptor")
    authorization = factory.RelatedFactory(AttemptFactory, factory_related_name="charge")
    # Stated here too, for a stage that names them would otherwise leave nothing for the others.
    authorization__state = Attempt.State.DONE
    authorization__outcome = "Approved"
    authorization__due_at = None

    class Params:
        is_unknown = factory.Trait(
            authorization__state=Attempt.State.UNKNOWN,
            authorization__outcome="",
            authorization__due_at=factory.LazyFunction(clock.now),
        )
        is_awaiting_payer = factory.Trait(
            action={"type": "redirect_to_url", "url": "https://bank.example/challenge"},
            action_expires_at=factory.LazyFunction(lambda: clock.now() + timedelta(hours=1)),
            authorization__state=Attempt.State.WAITING,
            authorization__outcome="",
            authorization__due_at=factory.LazyFunction(lambda: clock.now() + timedelta(hours=1)),
        )
        is_failed = factory.Trait(
            status=Charge.Status.FAILED,
            failure_data=factory.LazyFunction(lambda: failure_data(Declined("card_declined"))),
            authorization__outcome="Declined",
        )
        is_held = factory.Trait(
            status=Charge.Status.SUCCEEDED,
            authorized=True,
            capture_at_once=False,
            hold_expires_at=factory.LazyFunction(lambda: clock.now() + timedelta(days=7)),
        )
        is_captured = factory.Trait(
            status=Charge.Status.SUCCEEDED, captured=True, amount_captured=factory.SelfAttribute("amount")
        )
        is_voided = factory.Trait(status=Charge.Status.VOIDED, capture_at_once=False)
        is_part_refunded = factory.Trait(
            captured=True,
            status=Charge.Status.SUCCEEDED,
            amount_captured=factory.SelfAttribute("amount"),
            amount_refunded=factory.LazyAttribute(lambda charge: charge.amount // 4),
            refund=factory.RelatedFactory(RefundFactory, factory_related_name="charge"),
        )
        is_refunded = factory.Trait(
            status=Charge.Status.REFUNDED,
            captured=True,
            amount_captured=factory.SelfAttribute("amount"),
            amount_refunded=factory.SelfAttribute("amount"),
            refund=factory.RelatedFactory(RefundFactory, factory_related_name="charge"),
        )


def schedule_files(user: User, merchant: Merchant | None = None) -> FileSchedule:
    """Have charges sent to `user`, and to colleagues at a merchant; return the schedule, which has a file."""
    view = SavedView.objects.create(user=user, model="payments.charge", name="Each morning")
    schedule = FileSchedule.objects.create(
        view=view, merchant=merchant, livemode=False, interval="daily", for_colleagues=merchant is not None
    )
    SentFile.objects.create(schedule=schedule, merchant=merchant, rights=b"?" * 32, size=1, sealed_content=b"")
    return schedule
