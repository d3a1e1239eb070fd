"""Charges and refunds as the API and the webhooks show them (contract, section 3)."""

from typing import Any

from payments.models import Charge, Refund
from payments.providers.failure_data import REASONS
from payments.providers.failures.retry import Retry
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.sources import EXAMPLE_OWNER, SOURCE

CHARGE_ID = "ch_019aa3c5e2a47d10b1c6f0d2a3948576"
CHARGE_SOURCE = ApiObject(
    "ChargeSource",
    "The source of a charge, with `require_auth` of the charge.",
    SOURCE,
    require_auth=member.flag("`require_auth` of the charge.", True),
)
REFUND = ApiObject(
    "Refund",
    "Money that is returned to the payer.",
    object=member.named("refund"),
    id=member.own_id("re", "re_019aa3c5f3b57e21a2d7e1c3b4a59687"),
    amount=member.number("How much, in the currency's smallest unit.", 50_000),
    charge=member.id_of("ch", "The ID of the refunded charge.", CHARGE_ID, read="charge_id"),
    currency=member.currency(),
    reason=member.text("Why, in the merchant's words.", "requested_by_customer"),
    status=member.choice(
        Refund.Status.values,
        "`pending` until the provider has paid the refund, then `succeeded` or `failed`.",
        "succeeded",
    ),
    livemode=member.livemode(),
    created_at=member.created(),
    updated_at=member.updated(),
)
ACTION = ApiObject(
    "Action",
    "The next step of the payer.",
    type=member.choice(
        ["redirect_to_url", "verify_otp"], "Send the payer to `url`, or ask for a one-time PIN.", "redirect_to_url"
    ),
    url=member.web_address("The page on which the payer acts.", "https://pay.example/challenge/9f2c"),
    confirmation_id=member.text("The ID to send to `verify`; present with `verify_otp`.", required=False),
)
PROVIDER_RESPONSE = ApiObject(
    "ProviderResponse",
    "The answer of the provider.",
    code=member.text("The provider's code.", "insufficient_funds"),
    message=member.text("The provider's message.", "The account lacks funds."),
    logref=member.text("The provider's reference for the payment.", "sp_019aa3c5e2a47d10b1c6f0d2a3948577"),
    links=Member({"type": "array", "items": {"type": "object"}}, "Always empty.", example=[]),
)
FAILURE_DATA = ApiObject(
    "FailureData",
    "Why a charge failed.",
    code=member.choice(REASONS, "The reason, for programs.", "insufficient_funds"),
    reason=member.text("What happened, for people.", "There is not enough money on the account."),
    next_steps=member.text("What to do, for people.", "Use another card or another way to pay."),
    retry=member.choice(
        list(Retry),
        "Whether to charge again: `never` (a kept card is then refused for 30 days), `later`, only a `new_card`, or "
        "with the payer, who must `authenticate`.",
        "later",
    ),
    retry_after_hours=member.number(
        "With `later`: how many hours the card's network wants to pass before the next try.", required=False
    ),
    provider_response=Member(PROVIDER_RESPONSE, "The answer of the provider.", example=PROVIDER_RESPONSE.example),
)


def _source(charge: Charge) -> dict[str, Any]:
    shown = SOURCE.render(charge.source)
    shown["require_auth"] = charge.require_auth
    return shown


# It shows a charge that was read by `Charge.objects.whole()` or `shown()`.
CHARGE = ApiObject(
    "Charge",
    "A payment of a payer.",
    object=member.named("charge"),
    id=member.own_id("ch", CHARGE_ID),
    amount=member.number("Amount of the charge, in the currency's smallest unit.", 188_900),
    amount_captured=member.number("How much was captured.", 0),
    amount_refunded=member.number("How much of that was refunded, pending refunds included.", 0),
    authorized=member.flag("Whether money is held now and can be captured.", True),
    captured=member.flag("Whether money was captured.", False),
    currency=member.currency(),
    statement_descriptor=member.text("Text on the payer's statement.", "SARI STORE"),
    description=member.text("What the charge is for.", "Order 77"),
    source=Member(
        CHARGE_SOURCE,
        "The source that was charged.",
        read=_source,
        example=CHARGE_SOURCE.example
        | {"used": True, "card": SOURCE.example["card"] | {"cvc_checked": "pass", "checked": True}},
    ),
    require_auth=member.flag("Whether the payer had to authenticate (3-D Secure), where the card supports it.", True),
    owner=Member("Owner", "The owner of the source.", required=False, read="source.owner", example=EXAMPLE_OWNER),
    action=Member(ACTION, "The next step of the payer.", required=False),
    disputed=member.flag("Whether the payer's bank has ever disputed it.", False),
    refunds=member.nested(REFUND, "The refunds, newest first.", many=True, read="refund_list", example=[]),
    status=member.choice(Charge.Status.values, "The status of the charge.", "succeeded"),
    livemode=member.livemode(),
    created_at=member.created(),
    updated_at=member.updated(),
    metadata=member.metadata(order="77"),
    failure_data=Member(FAILURE_DATA, "Why the charge failed, if it did.", required=False),
)
