"""The objects of responses in the OpenAPI document (contract, section 3); `payments.rendering` renders them."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from payments import sourcetypes
from payments.api.schema.members import (
    Member,
    SerializerClass,
    any_object,
    choice,
    created,
    currency,
    echo,
    flag,
    id_form,
    livemode,
    metadata,
    moment,
    named,
    number,
    or_null,
    own_id,
    shown,
    text,
    updated,
    web_address,
)
from payments.api.validation.serializers import AddressInput, CardInput, OwnerInput, RedirectInput
from payments.domain.cards.bin_table import BRANDS, FUNDINGS
from payments.models import Card, Charge, Dispute, Refund
from payments.models.charging.evidence import SIGNATURES
from payments.providers.disputes import EvidenceType, Reason, Response
from payments.providers.failure_data import REASONS

CARD = shown(
    "Card",
    "The details of a card, without its number and security code.",
    object=named("card"),
    id=own_id("card"),
    name=text("Full name of the cardholder."),
    last4=Member({"type": "string", "pattern": "^[0-9]{4}$"}, "Last four digits of the card number."),
    exp_month=text("Expiry month, as it was sent."),
    exp_year=Member({"type": "string", "pattern": "^[0-9]{4}$"}, "Expiry year."),
    **echo(CardInput, *(name for name in CardInput().get_fields() if name.startswith("address_"))),
    brand=choice(BRANDS, "Card scheme, by the prefix of the number; `unknown` if it names none."),
    country=Member(
        {"type": "string", "pattern": "^([A-Z]{2}|unknown)$"}, "Country of the issuer (ISO 3166), or `unknown`."
    ),
    cvc_checked=choice(Card.CvcChecked.values, "The issuer's answer about the security code."),
    funding=choice(FUNDINGS, "Kind of funding."),
    issuing_bank=text("The issuing bank's name, or `unknown`."),
)
BANK_ACCOUNT = shown(
    "BankAccount",
    "The account behind a debit.",
    reference_id=text("Reference at the debit interface."),
    bank_type=text("The token's bank type."),
    bank_code=text("Code of the bank."),
    account_name=text("Name on the account."),
    account_number=text("Number of the account."),
    account_type=text("Kind of account."),
    expires_at=text("When the reference expires."),
    metadata=any_object("Further data.", required=False),
)
REDIRECT = shown("Redirect", "Where the payer is sent back to, and the URL to notify.", **echo(RedirectInput))
ADDRESS = shown("Address", "A billing or shipping address.", **echo(AddressInput))
OWNER = shown(
    "Owner",
    "The owner of a source.",
    billing=ADDRESS(required=False, help_text="Billing address."),
    shipping=ADDRESS(required=False, help_text="Shipping address."),
    **echo(OwnerInput, "name", "address_country"),
)
SOURCE = shown(
    "Source",
    "A card, wallet or bank account that can be charged once, or any number of times if it is kept for a customer.",
    object=named("source"),
    id=own_id("src"),
    type=choice(sourcetypes.NAMES, "The way to pay."),
    card=CARD(required=False, help_text="The card, of a source of type `card`."),
    bank_account=BANK_ACCOUNT(required=False, help_text="The account, of a debit whose provider names it."),
    redirect=REDIRECT(required=False, help_text="Where the payer is sent back to."),
    owner=OWNER(required=False, help_text="The owner of the source."),
    vaulted=flag("Whether the source is kept for a customer and may be charged again."),
    used=flag("Whether a charge has used the source or a customer keeps it."),
    livemode=livemode(),
    created_at=created(),
    updated_at=updated(),
    metadata=metadata(),
)
CHARGE_SOURCE = shown(
    "ChargeSource",
    "The source of a charge, with `require_auth` of the charge.",
    SOURCE,
    require_auth=flag("`require_auth` of the charge."),
)
REFUND = shown(
    "Refund",
    "Money that is returned to the payer.",
    object=named("refund"),
    id=own_id("re"),
    amount=number("How much, in the currency's smallest unit."),
    charge=Member(id_form("ch"), "The ID of the refunded charge."),
    currency=currency(),
    reason=text("Why, in the merchant's words."),
    status=choice(
        Refund.Status.values, "`pending` until the provider has paid the refund, then `succeeded` or `failed`."
    ),
    livemode=livemode(),
    created_at=created(),
    updated_at=updated(),
)
DISPUTE_RESPONSE = shown(
    "DisputeResponse",
    "What you do about a dispute.",
    type=choice([response.value for response in Response], "`evidence` was submitted, or the loss accepted."),
    status=choice(
        Dispute.ResponseState.values,
        "`pending` until the provider has it, then `sent`; `refused` where it does not take it; `unknown` where it has "
        "not answered for a day, and may have it. After the last two you may correct the evidence and respond again.",
    ),
    message=text("Why it was refused, or is unknown.", required=False),
    requested_at=moment("When you asked for it."),
)
DISPUTE = shown(
    "Dispute",
    "A charge that the payer disputes with their bank.",
    object=named("dispute"),
    id=own_id("dp"),
    amount=number("How much is disputed, in the currency's smallest unit."),
    charge=Member(id_form("ch"), "The ID of the disputed charge."),
    currency=currency(),
    fee=number("Your fee while the payer's bank has the money, in the currency's smallest unit."),
    reason=choice([reason.value for reason in Reason], "Why, in one vocabulary for all card networks."),
    network_reason_code=text("The card network's own code of the reason.", required=False),
    network_reference=text("The card network's reference of the payment.", required=False),
    status=choice(
        Dispute.Status.values,
        "`warning`: the bank asks, and has taken nothing. `needs_response`: it has taken the money. `under_review`: "
        "the provider has your evidence; a bank that wants more makes it `needs_response` again. `won`, `lost`, "
        "`accepted` and `expired` are its ends; after a `won` one the bank may still take the money a second time.",
    ),
    withdrawn=flag("Whether the payer's bank has the money now."),
    evidence_due_at=moment("Until when the provider takes evidence.", required=False),
    response=DISPUTE_RESPONSE(required=False, help_text="What you do about it, once you have asked for it."),
    livemode=livemode(),
    created_at=created(),
    updated_at=updated(),
)
EVIDENCE = shown(
    "Evidence",
    "One piece of evidence against a dispute. Its content is sealed, and shown to nobody but the provider.",
    object=named("evidence"),
    id=own_id("ev"),
    dispute=Member(id_form("dp"), "The ID of the dispute."),
    type=choice([kind.value for kind in EvidenceType], "What it shows."),
    content_type=choice(["text/plain", *SIGNATURES.values()], "A text, or the kind of file."),
    size=number("The size of the text or file in bytes."),
    livemode=livemode(),
    created_at=created(),
)
EVIDENCE_LIST = extend_schema_serializer(many=False)(
    shown(
        "EvidenceList",
        "All evidence of a dispute.",
        object=named("list"),
        data=EVIDENCE(many=True, help_text="At most one piece of each type, oldest first."),
    )
)
ACTION = shown(
    "Action",
    "The next step of the payer.",
    type=choice(["redirect_to_url", "verify_otp"], "Send the payer to `url`, or ask for a one-time PIN."),
    url=web_address("The page on which the payer acts."),
    confirmation_id=text("The ID to send to `verify`; present with `verify_otp`.", required=False),
)
PROVIDER_RESPONSE = shown(
    "ProviderResponse",
    "The answer of the provider.",
    code=text("The provider's code."),
    message=text("The provider's message."),
    logref=text("The provider's reference for the payment."),
    links=Member({"type": "array", "items": {"type": "object"}}, "Always empty."),
)
FAILURE_DATA = shown(
    "FailureData",
    "Why a charge failed.",
    code=choice(REASONS, "The reason, for programs."),
    reason=text("What happened, for people."),
    next_steps=text("What to do, for people."),
    provider_response=PROVIDER_RESPONSE(help_text="The answer of the provider."),
)
CHARGE = shown(
    "Charge",
    "A payment of a payer.",
    object=named("charge"),
    id=own_id("ch"),
    amount=number("Amount of the charge, in the currency's smallest unit."),
    amount_captured=number("How much was captured."),
    amount_refunded=number("How much of that was refunded, pending refunds included."),
    authorized=flag("Whether money is held now and can be captured."),
    captured=flag("Whether money was captured."),
    currency=currency(),
    statement_descriptor=text("Text on the payer's statement."),
    description=text("What the charge is for."),
    source=CHARGE_SOURCE(help_text="The source that was charged."),
    require_auth=flag("Whether the payer had to authenticate (3-D Secure), where the card supports it."),
    owner=OWNER(required=False, help_text="The owner of the source."),
    action=ACTION(required=False, help_text="The next step of the payer."),
    disputed=flag("Whether the payer's bank has ever disputed it."),
    refunds=REFUND(many=True, help_text="The refunds, newest first."),
    status=choice(Charge.Status.values, "The status of the charge."),
    livemode=livemode(),
    created_at=created(),
    updated_at=updated(),
    metadata=metadata(),
    failure_data=FAILURE_DATA(required=False, help_text="Why the charge failed, if it did."),
)
# Other apps add the objects of their events (customers does).
EVENT_OBJECTS: dict[str, SerializerClass] = {
    "charge": CHARGE,
    "refund": REFUND,
    "dispute": DISPUTE,
    "source": SOURCE,
}
EVENT_REQUEST = shown(
    "EventRequest",
    "The request that caused an event, without an `id` if no request did.",
    id=text("The `Request-Id`.", required=False),
    idempotency_key=or_null(text("The idempotency key, null without one.")),
)


@extend_schema_field(
    PolymorphicProxySerializer("EventObject", lambda: list(EVENT_OBJECTS.values()), resource_type_field_name=None)
)
class EventObject(serializers.Field[Any, Any, Any, Any]):
    """Any object of an event."""


EVENT_DATA = shown(
    "EventData",
    "The data of an event.",
    object=EventObject(help_text="The object at the time of the event."),
)
EVENT = shown(
    "Event",
    "One change of one object.",
    id=own_id("evt"),
    object=named("event"),
    type=text("The type of event, such as `charge.succeeded`."),
    created=number("Time of the event, in seconds since 1970."),
    created_at=moment("Time of the event."),
    livemode=livemode(),
    data=EVENT_DATA(help_text="The object that changed."),
    request=EVENT_REQUEST(help_text="The request that caused the event."),
    sequence=Member(
        {"type": "integer", "minimum": 1}, "Number of the event among those of its object, from 1 and without gaps."
    ),
)
NOTHING = {"type": "object", "maxProperties": 0}


def page_of(item: SerializerClass) -> SerializerClass:
    """Return the envelope of a list of `item`."""
    name = item.__name__.removesuffix("Serializer")
    envelope = shown(
        f"{name}List",
        "A page of a list, newest first.",
        object=named("list"),
        data=item(many=True, help_text="At most `limit` objects."),
        next=text("Path of the next page, every filter kept; absent on the last page.", required=False),
    )
    # drf-spectacular would take the envelope for the item of a list.
    return extend_schema_serializer(many=False)(envelope)
