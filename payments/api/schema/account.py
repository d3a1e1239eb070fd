"""The account, its balance, requests and test clock in the OpenAPI document (contract, section 3)."""

from payments import sourcetypes
from payments.api.schema import examples
from payments.api.schema.members import (
    Member,
    any_object,
    choice,
    created,
    currency,
    flag,
    livemode,
    named,
    number,
    or_null,
    own_id,
    shown,
    text,
    updated,
    web_address,
)
from payments.api.schema.operations import DescribedView, id_in_path, reading, writing
from payments.api.schema.responses import EVENT_OBJECTS, NOTHING, page_of
from payments.api.validation.query_fields import FeedQuery
from payments.api.validation.serializers import ClockInput
from payments.domain.audit.notices import CHANGES
from payments.domain.maintenance.partitions import REQUESTS_KEEP_DAYS
from payments.rendering.brand import COLOUR, OWN_ACCENT, OWN_COLOUR

COLOUR_FORM = {"type": "string", "pattern": f"^{COLOUR.pattern}$"}
APPROVAL = ("approved", "pending", "rejected")
BRANDING = shown(
    "Branding",
    "How a merchant's pages look.",
    icon=or_null(web_address("A small square picture.")),
    logo=or_null(web_address("The logo.")),
    use_logo=flag("Whether the logo is shown in place of the icon."),
    brand_color=Member(COLOUR_FORM, f"Colour in hex; kaha's own, `{OWN_COLOUR}`, where you have set none."),
    accent_color=Member(COLOUR_FORM, f"Colour in hex; kaha's own, `{OWN_ACCENT}`, where you have set none."),
)
RATE_MEMBERS = {
    "mdr": Member({"type": "number", "minimum": 0}, "Share of the amount, in percent."),
    "fixed_fee": number("Fixed amount, in the currency's smallest unit."),
}
RATE = shown("Rate", "The fee for a captured charge.", **RATE_MEMBERS)
GATEWAY = shown("Gateway", "A provider.", id=text("Its name, for programs."), name=text("Its name, for people."))
PAYMENT_METHOD = shown(
    "PaymentMethod",
    "What a merchant may do with one source type.",
    mid=or_null(text("Your own ID at the provider, where it gives one.")),
    gateway=GATEWAY(allow_null=True, help_text="The provider that takes it; null without one."),
    rate=shown(
        "PaymentMethodRate",
        "The fee for a captured charge.",
        **RATE_MEMBERS,
        formula=choice(["mdr_plus_fixed"], "The share of the amount and the fixed amount are added up."),
    )(help_text="The fee for a captured charge in PHP."),
    status=choice(APPROVAL, "Whether it takes payments."),
)
PAYMENT_METHODS = shown(
    "PaymentMethods",
    "What a merchant may do, by source type.",
    **{each.name: PAYMENT_METHOD(help_text=f"{each.label}.") for each in sourcetypes.SOURCE_TYPES},
)
RATES = shown(
    "Rates",
    "Fees by source type.",
    **{each.name: RATE(help_text=f"{each.label}.") for each in sourcetypes.SOURCE_TYPES},
)
PAYOUT_SETTINGS = shown(
    "PayoutSettings",
    "How a merchant is paid out.",
    schedule=or_null(text("`automatic`: by the calendar; `manual`: when an operator pays out; null without one.")),
    delivery_type=or_null(text("`bank_transfer`; null without a bank account.")),
    bank_code=or_null(text("The bank's BIC (ISO 9362).")),
    account_number=or_null(text("Number of the account, all but the last four digits masked.")),
    account_name=or_null(text("Name on the account.")),
)
ACCOUNT = shown(
    "Account",
    "The merchant of an API key.",
    object=named("organization"),
    id=own_id("mer"),
    title=text("Your name."),
    account_name=text("Your legal name."),
    statement_descriptor=text("Text on the payer's statement for charges without one."),
    pk_test_key=text("Your publishable test key."),
    pk_live_key=text("Your publishable live key."),
    sk_test_key=text("Your secret test key, all but the last four characters masked."),
    sk_live_key=text("Your secret live key, all but the last four characters masked."),
    branding=BRANDING(help_text="How your pages look."),
    status=choice(APPROVAL, "The status of your account."),
    business_address=or_null(text("Your business address.")),
    payment_method_settings=PAYMENT_METHODS(
        help_text="Each source type in this mode. `approved`: it takes payments; `pending`: it has no provider yet; "
        "`rejected`: it is switched off."
    ),
    rates=RATES(help_text="Your fees on captured charges in PHP, by source type."),
    payout_settings=PAYOUT_SETTINGS(help_text="How you are paid out in this mode, in PHP."),
    metadata=any_object("Further data."),
    created_at=created(),
    updated_at=updated(),
)
ORGANIZATION = shown(
    "Organization",
    "What an operator changed of your account, as its events show it.",
    object=named("organization"),
    id=own_id("mer"),
    changed=Member(
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        f"What was changed: {', '.join(f'`{name}`' for name in CHANGES)}. More names may come.",
    ),
    before=any_object("What `retrieve_account` does not show of it, by name, as it was; nothing secret."),
    after=any_object("The same as it is now; a URL without its query, `api_keys` as the new key's ID."),
    livemode=flag("The mode of the event. What concerns both modes has an event in each."),
    updated_at=updated(),
)
EVENT_OBJECTS["organization"] = ORGANIZATION
CLOCK = shown(
    "Clock",
    "The test clock: the time that has passed for your test objects.",
    object=named("clock"),
    livemode=flag("Always `false`."),
    advanced_seconds=number("How many seconds have passed."),
)
REQUEST = shown(
    "Request",
    "A request that was made with one of your keys.",
    object=named("request"),
    id=own_id("req", "The `Request-Id` of its answer."),
    method=text("The HTTP method."),
    path=text("The path without its query, with `*` in place of an e-mail address or other text of yours."),
    status=Member({"type": "integer", "minimum": 100, "maximum": 599}, "The HTTP status of the answer."),
    milliseconds=number("How long the answer took."),
    livemode=livemode(),
    created_at=created(),
)
BALANCE_AMOUNT = shown(
    "BalanceAmount",
    "An amount of one currency.",
    amount=Member({"type": "integer"}, "In the currency's smallest unit; negative if you owe it."),
    currency=currency(),
)
BALANCE = shown(
    "Balance",
    "Your money, in each currency that you have used.",
    object=named("balance"),
    livemode=flag("Whether this is real money."),
    available=BALANCE_AMOUNT(many=True, help_text="Captured and settled, for the next payout."),
    pending=BALANCE_AMOUNT(many=True, help_text="Captured, to be settled after the end of the day (UTC)."),
    reserved=BALANCE_AMOUNT(many=True, help_text="Kept of payouts for some days."),
    held=BALANCE_AMOUNT(many=True, help_text="Held and not captured yet; fees are deducted with the capture."),
)


class Requests(DescribedView):
    target_class = "payments.api.requests.RequestViewSet"
    operations = {
        "list": reading(
            "list_requests",
            "List your requests",
            "The requests of your keys in this mode, those that ended last first. "
            f"They are kept for {REQUESTS_KEEP_DAYS} days, and are listed about 2 s after their answer; after a crash "
            "or a flood some may be missing. Requests for this list and those that wait are not in it.",
            page_of(REQUEST),
            examples.page("/v2/requests/", examples.REQUEST),
            tag="Requests",
            query=FeedQuery,
        ),
        "retrieve": reading(
            "retrieve_request",
            "Retrieve a request",
            "The request whose answer had this `Request-Id`.",
            REQUEST,
            examples.REQUEST,
            tag="Requests",
            at=[id_in_path("req", "request")],
        ),
    }


class Account(DescribedView):
    target_class = "payments.api.account.AccountViewSet"
    operations = {
        "me": reading(
            "retrieve_account",
            "Retrieve your account",
            "The merchant of this key.",
            ACCOUNT,
            examples.ACCOUNT,
            tag="Account",
        ),
        "balance": reading(
            "retrieve_balance",
            "Retrieve your balance",
            "Your money in this mode, by currency, after fees and refunds. A refund reduces it at once, and gives the "
            "amount back if it fails. `/v2/balance_transactions` lists what it is made of; holds are not in it.",
            BALANCE,
            examples.BALANCE,
            tag="Account",
        ),
        "ping": reading("ping", "Try a key", "Answers an empty object to a valid key.", NOTHING, {}, tag="Account"),
    }


class Clock(DescribedView):
    target_class = "payments.api.clock.ClockViewSet"
    operations = {
        "advance": writing(
            "advance_clock",
            "Advance the test clock",
            "Moves every deadline of your test objects nearer by this time. It exists only where the service runs with "
            "`KAHA_CLOCK`; elsewhere, and with a live key, the answer is 404. The answer comes when everything due has "
            "been done, after half a minute at the latest: expired holds and actions have ended, unknown outcomes were "
            "looked up, refunds have ended, captured money is settled, and webhooks were sent. New deadlines wait for "
            "another call: one call makes one more attempt of a webhook that is due. `created_at` and other past times "
            "do not change.",
            ClockInput,
            CLOCK,
            tag="Testing",
            sent={"A week": {"advance_seconds": 604_800}},
            answered={"A week later": {"object": "clock", **examples.MODE, "advanced_seconds": 604_800}},
            invalid=("missing", "too_small", "too_big", "unknown_parameter", "invalid_type"),
            may_miss=True,
        ),
    }
