"""The merchant as `/v2/me` shows it (contract, section 3): every member is there, null where nothing is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from payments import clock, sourcetypes
from payments.domain.merchants.terms import is_enabled
from payments.domain.payouts.schedules import account_in_effect
from payments.domain.routing.candidates import first_routes
from payments.ledger.fees import Rate, rate_of
from payments.models import ApiKey, Merchant, PayoutAccount, PayoutSchedule, Route
from payments.money import DEFAULT_CURRENCY
from payments.providers.registry import CONNECTORS
from payments.rendering.brand import COLOUR, OWN_ACCENT, OWN_COLOUR, own_branding
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.events import MERCHANT_ID

# In place of a key that there is not, and of what is masked.
MASK = "****"
APPROVAL = ("approved", "pending", "rejected")
STATUSES = {"active": "approved", "closed": "rejected"}


class Gateway(NamedTuple):
    name: str
    title: str


class PaymentMethod(NamedTuple):
    """What a merchant may do with one source type: the provider that its first route leads to, and its own ID there."""

    mid: str | None
    gateway: Gateway | None
    rate: Rate
    status: str


@dataclass(frozen=True)
class PayoutTerms:
    """How a merchant is paid out now."""

    plan: PayoutSchedule | None
    account: PayoutAccount | None

    @property
    def schedule(self) -> str | None:
        is_manual = self.plan and self.plan.interval == PayoutSchedule.Interval.MANUAL
        return ("manual" if is_manual else "automatic") if self.plan else None


@dataclass(frozen=True)
class Organization:
    """The merchant as a key of this mode sees it; fees and payouts are those in Philippine pesos."""

    merchant: Merchant
    livemode: bool

    @cached_property
    def keys(self) -> dict[str, str]:
        """Return the newest key of each kind and mode; of secret keys only the last four characters show."""
        shown = {}
        own = self.merchant.keys.filter(revoked_at=None).exclude(kind__in=ApiKey.LIMITED)
        for key in own.order_by("created_at"):
            name = f"{key.masked_prefix}key"
            shown[name] = key.public_text if key.kind == ApiKey.Kind.PUBLISHABLE else f"{MASK}{key.last4}"
        return shown

    @cached_property
    def rates(self) -> dict[str, Rate]:
        rates = self.merchant.rates
        return {name: rate_of(rates, name, DEFAULT_CURRENCY) for name in sourcetypes.NAMES}

    @property
    def payment_methods(self) -> dict[str, PaymentMethod]:
        """Return each source type with its status: `rejected` is switched off, `pending` has no route yet."""
        routes = first_routes(self.merchant.id) if self.livemode else {}
        return {name: self._payment_method(name, routes) for name in sourcetypes.NAMES}

    def _payment_method(self, name: str, routes: Mapping[str, Route]) -> PaymentMethod:
        mid, gateway = _gateway(routes.get(name)) if self.livemode else (None, Gateway("simulator", "Simulator"))
        status = "approved" if gateway else "pending"
        if not is_enabled(self.merchant.payment_method_settings, name, self.livemode):
            status = "rejected"
        return PaymentMethod(mid, gateway, self.rates[name], status)

    @property
    def payouts(self) -> PayoutTerms:
        own = {"merchant_id": self.merchant.id, "livemode": self.livemode, "currency": DEFAULT_CURRENCY}
        plan = PayoutSchedule.objects.filter(**own).first()
        return PayoutTerms(plan, account_in_effect(plan or PayoutSchedule(**own), clock.now()))


def _gateway(route: Route | None) -> tuple[str | None, Gateway | None]:
    if route is None:
        return None, None
    connector = CONNECTORS[route.account.provider]
    return route.account.settings.get(connector.merchant_setting), Gateway(connector.name, connector.title)


def _key(name: str, meaning: str, example: str) -> Member:
    return member.text(meaning, example, read=lambda seen: seen.keys.get(name, MASK))


def _of_account(meaning: str, show: Callable[[PayoutAccount], str], example: str) -> Member:
    """Return a text about the bank account that payouts go to, null without one."""
    return member.or_null(member.text(meaning, example, read="account", convert=show))


def _colour(name: str, own: str, example: str) -> Member:
    """Return the colour `name`, kaha's own where a merchant has set none or a malformed one."""

    def read(branding: Mapping[str, Any]) -> str:
        colour = str(branding.get(name) or "")
        return colour if COLOUR.fullmatch(colour) else own

    meaning = f"Colour in hex; kaha's own, `{own}`, where you have set none."
    return Member({"type": "string", "pattern": f"^{COLOUR.pattern}$"}, meaning, read=read, example=example)


def _picture(name: str, meaning: str, example: str | None = None) -> Member:
    return member.or_null(member.web_address(meaning, example, read=lambda branding: branding.get(name)))


EXAMPLE_LOGO = "https://pay.example/pictures/5a1cf1f4-2d0b-8e3a-9f0c-64b2e8d1a907.png"
# It shows `own_branding` of a merchant.
BRANDING = ApiObject(
    "Branding",
    "How a merchant's pages look.",
    icon=_picture("icon", "A small square picture that was uploaded, at an address that ends with it."),
    logo=_picture(
        "logo",
        "The logo that was uploaded. Its address ends when another is uploaded, so do not keep it.",
        EXAMPLE_LOGO,
    ),
    use_logo=member.flag(
        "Whether the logo is shown in place of the icon.", True, read=lambda branding: branding.get("use_logo") is True
    ),
    brand_color=_colour("brand_color", OWN_COLOUR, "#1a73e8"),
    accent_color=_colour("accent_color", OWN_ACCENT, OWN_ACCENT),
)
RATE = ApiObject(
    "Rate",
    "The fee for a captured charge.",
    mdr=Member(
        {"type": "number", "minimum": 0},
        "Share of the amount, in percent.",
        read=lambda rate: rate.basis_points / 100,
        example=3.5,
    ),
    fixed_fee=member.number("Fixed amount, in the currency's smallest unit.", 1_500, read="fixed"),
)
PAYMENT_METHOD_RATE = ApiObject(
    "PaymentMethodRate",
    "The fee for a captured charge.",
    RATE,
    formula=member.choice(
        ["mdr_plus_fixed"],
        "The share of the amount and the fixed amount are added up.",
        "mdr_plus_fixed",
        read=lambda _: "mdr_plus_fixed",
    ),
)
GATEWAY = ApiObject(
    "Gateway",
    "A provider.",
    id=member.text("Its name, for programs.", "simulator", read="name"),
    name=member.text("Its name, for people.", "Simulator", read="title"),
)
PAYMENT_METHOD = ApiObject(
    "PaymentMethod",
    "What a merchant may do with one source type.",
    mid=member.or_null(member.text("Your own ID at the provider, where it gives one.")),
    gateway=member.or_null(member.nested(GATEWAY, "The provider that takes it; null without one.")),
    rate=member.nested(PAYMENT_METHOD_RATE, "The fee for a captured charge in PHP."),
    status=member.choice(APPROVAL, "Whether it takes payments.", "approved"),
)


def _by_source_type(name: str, meaning: str, shown: ApiObject) -> ApiObject:
    """Return the object with a member `shown` for each source type, of a row that has them by name."""
    return ApiObject(
        name,
        meaning,
        **{
            each.name: member.nested(shown, f"{each.label}.", read=itemgetter(each.name))
            for each in sourcetypes.SOURCE_TYPES
        },
    )


PAYMENT_METHODS = _by_source_type("PaymentMethods", "What a merchant may do, by source type.", PAYMENT_METHOD)
RATES = _by_source_type("Rates", "Fees by source type.", RATE)
PAYOUT_SETTINGS = ApiObject(
    "PayoutSettings",
    "How a merchant is paid out.",
    schedule=member.or_null(
        member.text("`automatic`: by the calendar; `manual`: when an operator pays out; null without one.", "automatic")
    ),
    delivery_type=_of_account(
        "`standard`: by bank transfer; null without a bank account.", lambda _: "standard", "standard"
    ),
    bank_code=_of_account("The bank's BIC (ISO 9362).", lambda account: account.bic, "BNORPHMM"),
    account_number=_of_account(
        "Number of the account, all but the last four digits masked.",
        lambda account: f"{MASK}{account.last4}",
        "****6789",
    ),
    account_name=_of_account("Name on the account.", lambda account: account.holder, "Sari Store Trading"),
)
ACCOUNT = ApiObject(
    "Account",
    "The merchant of an API key.",
    object=member.named("organization"),
    id=member.own_id("mer", MERCHANT_ID, read="merchant.id"),
    title=member.text("Your name.", "Sari Store", read="merchant.title"),
    account_name=member.text("Your legal name.", "Sari Store Trading", read="merchant.account_name"),
    statement_descriptor=member.text(
        "Text on the payer's statement for charges without one.", "SARI STORE", read="merchant.statement_descriptor"
    ),
    pk_test_key=_key("pk_test_key", "Your publishable test key.", "pk_test_…"),
    pk_live_key=_key("pk_live_key", "Your publishable live key.", "pk_live_…"),
    sk_test_key=_key("sk_test_key", "Your secret test key, all but the last four characters masked.", "****51ab"),
    sk_live_key=_key("sk_live_key", "Your secret live key, all but the last four characters masked.", "****90cd"),
    branding=member.nested(BRANDING, "How your pages look.", read=lambda account: own_branding(account.merchant)),
    status=member.choice(
        APPROVAL, "The status of your account.", "approved", read="merchant.status", convert=STATUSES.__getitem__
    ),
    business_address=member.or_null(
        member.text("Your business address.", "12 Session Road, Baguio", read="merchant.business_address")
    ),
    payment_method_settings=member.nested(
        PAYMENT_METHODS,
        "Each source type in this mode. `approved`: it takes payments; `pending`: it has no provider yet; "
        "`rejected`: it is switched off.",
        read="payment_methods",
    ),
    rates=member.nested(RATES, "Your fees on captured charges in PHP, by source type."),
    payout_settings=member.nested(PAYOUT_SETTINGS, "How you are paid out in this mode, in PHP.", read="payouts"),
    metadata=member.any_object("Further data.", {}, read="merchant.metadata"),
    created_at=member.created(read="merchant.created_at"),
    updated_at=member.updated(read="merchant.updated_at"),
)
