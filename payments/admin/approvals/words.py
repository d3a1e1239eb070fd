"""Descriptions of requests for approval: their consequence, and each value before and after."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import clock, sourcetypes
from payments.admin.framework.formats import NOTHING, days_text, lines, link, money, provider_title
from payments.admin.framework.object_actions import Consequence, Facts
from payments.admin.moments import moment_text
from payments.admin.operators.call_words import rule_words
from payments.domain.merchants.scopes import RIGHTS
from payments.models import ApiKey, ApprovalRequest, Merchant, Payout, PayoutAccount, ProviderAccount, Route
from payments.providers.accounts import Connector
from payments.providers.registry import CONNECTORS

Kind = ApprovalRequest.Kind
ROUTE_LABELS = {
    "source_type": _("Type"),
    "currency": _("Currency"),
    "amount_min": _("Smallest amount"),
    "amount_max": _("Largest amount"),
    "position": _("Place"),
    "hold": _("Holds"),
    "refund": _("Refunds"),
    "partial_refund": _("Refunds in part"),
    "enabled": _("Enabled"),
}


def consequence_of(request: ApprovalRequest) -> Consequence:
    """Return what comes of an approval."""
    merchant, requester = request.merchant.title, request.proposed_by
    match request.kind:
        case Kind.ISSUE_KEY | Kind.ROLL_KEY:
            does = _what_it_does(request.after)
            text = gettext(
                "Anybody with the key can {does} of {merchant} in live mode. {requester} takes it and sees its text. "
                "It works until it is revoked or ends."
            )
            return Consequence(text.format(does=does, merchant=merchant, requester=requester), gives_back=True)
        case Kind.ADD_PAYOUT_ACCOUNT:
            text = f"From 24 hours after the approval all that {merchant} earns goes to this account. Ask {merchant} "
            return Consequence(f"{text}by a telephone number that you know, not by one in a message about it.")
        case Kind.SET_PAYOUT_SCHEDULE:
            text = f"Payouts of {merchant} made from now on have these terms. What goes out is not there any more for "
            return Consequence(f"{text}later refunds and disputes.")
        case Kind.RECORD_PAYOUT:
            return Consequence(_of_record(merchant, is_returned=request.after["status"] == "returned"))
        case Kind.RAISE_LIMIT:
            most = money(request.after["amount"], request.after["currency"])
            text = gettext("Each person of {merchant} who may refund gives back up to {most} of a payment alone.")
            return Consequence(text.format(merchant=merchant, most=most), gives_back=True)
        case Kind.ADD_ACCOUNT | Kind.CHANGE_ACCOUNT:
            connector = _connector(request)
            hosts = " and ".join(connector.domains) if connector and connector.domains else "the provider"
            text = f"Live cards of {merchant} that are routed to this account go to {hosts}. The holder of the account"
            return Consequence(f"{text} there gets the money. Make sure with the merchant that it is theirs.")
        case _:
            text = f"New live charges of {merchant} may go by this route from now on, their cards included."
            return Consequence(f"{text} Earlier charges are captured and refunded by their own route.")


def _what_it_does(asked: dict[str, Any]) -> str:
    match asked["kind"]:
        case ApiKey.Kind.SECRET:
            return gettext("charge payers, capture, void and refund, and read all payments")
        case ApiKey.Kind.ASSISTANT:
            text = gettext("move money up to the amounts of its rules, with no person to decide ({rules}),")
            alone = {tool: rule for tool, rule in asked["rules"].items() if rule}
            return text.format(rules="; ".join(rule_words(alone)))
        case _:
            return gettext(" and ").join(gettext(RIGHTS.get(right, right)) for right in asked["rights"])


def _of_record(merchant: str, is_returned: bool) -> str:
    if not is_returned:
        return "The books say that our bank has paid it. Make sure with the statement of our account."
    text = f"The balance of {merchant} has the money again, and the next payout pays it once more."
    return f"{text} Make sure that it is back in our account."


def short_words(request: ApprovalRequest) -> str:
    """Return what is asked for, in a few words."""
    after, kind = request.after, request.get_kind_display()
    match request.kind:
        case Kind.ISSUE_KEY:
            return f"{kind}: {', '.join(filter(None, (str(ApiKey.Kind(after['kind']).label), after['name'])))}"
        case Kind.ROLL_KEY:
            return f"{kind}: {after['key']}"
        case Kind.ADD_ACCOUNT | Kind.CHANGE_ACCOUNT:
            return f"{kind}: {after['title']}"
        case Kind.ADD_PAYOUT_ACCOUNT:
            return gettext("{kind}: {currency}, ending in {last4}").format(kind=kind, **after)
        case Kind.SET_PAYOUT_SCHEDULE:
            return f"{kind}: {after['currency']}, {after['interval']}"
        case Kind.RECORD_PAYOUT:
            return f"{kind}: {after['status']}"
        case Kind.RAISE_LIMIT:
            return f"{kind}: {money(after['amount'], after['currency'])}"
        case _:
            return f"{kind}: {sourcetypes.shown(after['source_type']).label}"


def facts_of(request: ApprovalRequest) -> Facts:
    """Return what the approver must know: who asks, why, and each value before and after."""
    yield _("Merchant"), link(Merchant, request.merchant_id, request.merchant.title)
    yield _("Mode"), _("live: this is real money")
    yield from _subject(request)
    yield from changes_of(request)
    yield _("Requested by"), f"{request.proposed_by}, {moment_text(request.created_at)}"
    yield _("Why"), request.reason
    yield _("Open until"), f"{moment_text(request.expires_at)}"


def changes_of(request: ApprovalRequest) -> Iterator[tuple[Any, object]]:
    """Return each value that is asked for, beside the one that was there."""
    is_change = bool(request.before)
    before, after = dict(_values(request, request.before)), dict(_values(request, request.after))
    for name, value in after.items():
        yield name, _beside(before.get(name, NOTHING), value) if is_change else value
    for name in before.keys() - after.keys():
        yield name, _beside(before[name], NOTHING)


def _subject(request: ApprovalRequest) -> Facts:
    match request.kind:
        case Kind.ROLL_KEY:
            yield _("Key"), link(ApiKey, request.subject_id, request.after["key"])
        case Kind.CHANGE_ACCOUNT:
            account = ProviderAccount.objects.get(id=request.subject_id)
            yield "Account", link(ProviderAccount, account.id, f"{account} ({account.public_id})")
            yield "At", provider_title(account.provider)
        case Kind.ADD_ROUTE:
            account = ProviderAccount.objects.get(id=UUID(request.after["account"]))
            yield "Account", link(ProviderAccount, account.id, f"{account} at {provider_title(account.provider)}")
        case Kind.CHANGE_ROUTE:
            route = Route.objects.select_related("account").get(id=request.subject_id)
            yield "Route", link(Route, route.id, route)
            yield "Account", link(ProviderAccount, route.account_id, route.account)
        case Kind.RECORD_PAYOUT:
            payout = Payout.objects.select_related("account").get(id=request.subject_id)
            yield "Payout", link(Payout, payout.id, f"{payout}")
            yield "Amount", money(payout.amount, payout.currency)
            yield "Went to", payout.account
        case Kind.ADD_PAYOUT_ACCOUNT:
            own = PayoutAccount.objects.filter(merchant=request.merchant_id, livemode=True)
            present = own.filter(currency=request.after["currency"]).in_effect(clock.now()).first()
            yield _("In place of"), link(PayoutAccount, present.id, present) if present else _("no account yet")


def _may(content: dict[str, Any]) -> Iterator[tuple[Any, object]]:
    yield _("Rights"), ", ".join(content["rights"]) or _("all of a secret key")
    if content.get("rules"):
        yield _("May ask for"), lines(rule_words(content["rules"]))


def _values(request: ApprovalRequest, content: dict[str, Any]) -> Iterator[tuple[Any, object]]:
    if not content:
        return
    match request.kind:
        case Kind.ISSUE_KEY:
            yield _("Name"), content["name"] or NOTHING
            yield _("Kind"), ApiKey.Kind(content["kind"]).label
            yield from _may(content)
            yield _("Works from"), ", ".join(content["networks"]) or _("everywhere")
            yield _("Ends"), _ends(content["days"])
        case Kind.ROLL_KEY:
            yield from _may(content)
            yield _("Old key works for"), gettext("{hours} hours after the new one is taken").format(**content)
        case Kind.ADD_ACCOUNT | Kind.CHANGE_ACCOUNT:
            yield from _account_values(request, content)
        case Kind.ADD_PAYOUT_ACCOUNT | Kind.SET_PAYOUT_SCHEDULE | Kind.RECORD_PAYOUT:
            yield from _payout_values(request, content)
        case Kind.RAISE_LIMIT:
            yield _("Given back alone"), money(content["amount"], content["currency"])
        case _:
            for name, label in ROUTE_LABELS.items():
                yield label, _route_value(name, content)


def _ends(days: int | None) -> str:
    return gettext("{days} after it is taken").format(days=days_text(days)) if days else gettext("never")


def _payout_values(request: ApprovalRequest, content: dict[str, Any]) -> Iterator[tuple[Any, object]]:
    match request.kind:
        case Kind.ADD_PAYOUT_ACCOUNT:
            yield _("Currency"), content["currency"]
            yield _("Holder"), content["holder"]
            yield "BIC", content["bic"]
            yield _("Account number"), gettext("typed by the requester, ending in {last4}").format(**content)
        case Kind.SET_PAYOUT_SCHEDULE:
            yield _("Currency"), content["currency"]
            yield "Interval", content["interval"]
            yield "Delay", days_text(content["delay_days"])
            yield "Reserve", f"{content['reserve_percent']} % for {days_text(content['reserve_days'])}"
            yield "Way out", _way_out(content["provider_account"])
        case _:
            yield "Status", content["status"].replace("_", " ")


def _account_values(request: ApprovalRequest, content: dict[str, Any]) -> Iterator[tuple[Any, object]]:
    connector = _connector(request)
    if "provider" in content:
        yield "At", provider_title(content["provider"])
    yield "Title", content["title"]
    if "enabled" in content:
        yield "Enabled", "yes" if content["enabled"] else "no"
    for blank in connector.settings if connector else ():
        yield blank.label, content["settings"].get(blank.name, NOTHING)
    for blank in connector.credentials if connector and "credentials" in content else ():
        yield blank.label, "typed by the requester" if blank.name in content["credentials"] else "stays as it is"


def _way_out(account_id: str) -> object:
    account = ProviderAccount.objects.filter(id=account_id).first() if account_id else None
    return link(ProviderAccount, account.id, account) if account else NOTHING if account_id else "a bank file"


def _route_value(name: str, content: dict[str, Any]) -> object:
    value = content[name]
    match name:
        case "source_type":
            return sourcetypes.shown(value).label
        case "amount_min" | "amount_max":
            return money(value, content["currency"]) if value else "any"
        case "position":
            return value
        case "currency":
            return value or "any"
        case _:
            return "yes" if value else "no"


def _beside(before: object, after: object) -> SafeString | object:
    if before == after or after == "stays as it is":
        return format_html(gettext("{} (unchanged)"), after)
    if after == "typed by the requester":
        return "replaced by what the requester typed"
    return format_html("<del>{}</del> → <ins>{}</ins>", before, after)


def _connector(request: ApprovalRequest) -> Connector | None:
    if request.kind == Kind.ADD_ACCOUNT:
        return CONNECTORS.get(request.after["provider"])
    account = ProviderAccount.objects.filter(id=request.subject_id).first()
    return CONNECTORS.get(account.provider) if account else None
