"""The words of each kind of requests for approval: one table, in which a kind has all that is said of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import clock, sourcetypes
from payments.admin.framework.formats import NOTHING, days_text, lines, link, money, provider_title
from payments.admin.framework.object_actions import Facts
from payments.admin.operators.call_words import rule_words
from payments.admin.shown_times import moment_text
from payments.domain.merchants.scopes import RIGHTS
from payments.domain.reconciliation.columns.layout import ColumnLayout
from payments.models import ApiKey, ApprovalRequest, Merchant, Payout, PayoutAccount, PayoutFile, ProviderAccount, Route
from payments.providers.accounts import Connector
from payments.providers.registry import CONNECTORS

Kind = ApprovalRequest.Kind
ROUTE_SWITCHES = {
    "hold": _("Holds"),
    "refund": _("Refunds"),
    "partial_refund": _("Refunds in part"),
    "enabled": _("Enabled"),
}


Content = dict[str, Any]
Values = Iterator[tuple[Any, object]]


@dataclass(frozen=True, slots=True)
class KindWords:
    """What is said of a kind of requests.

    `consequence` is what comes of an approval. `asked` says in a few words what is asked for, and `values` yields each
    value of what is asked for or was there before. `subject` yields what the request is about.
    """

    consequence: Callable[[ApprovalRequest], Any]
    asked: Callable[[Content], object]
    values: Callable[[ApprovalRequest, Content], Values] = lambda *_: iter(())
    subject: Callable[[ApprovalRequest], Facts] = lambda _: iter(())


def consequence_of(request: ApprovalRequest) -> Any:
    """Return what comes of an approval."""
    return WORDS[request.kind].consequence(request)


def short_words(request: ApprovalRequest) -> str:
    """Return what is asked for, in a few words."""
    asked = money(request.amount, request.currency) if request.amount else WORDS[request.kind].asked(request.after)
    return f"{request.get_kind_display()}: {asked}"


def facts_of(request: ApprovalRequest) -> Facts:
    """Return what the approver must know: who asks, why, and each value before and after."""
    yield _("Merchant"), merchant_of(request)
    yield _("Mode"), _("live: this is real money")
    yield from WORDS[request.kind].subject(request)
    yield from changes_of(request)
    yield _("Open until"), f"{moment_text(request.expires_at)}"


def merchant_of(request: ApprovalRequest) -> Any:
    """Return the merchant of a request, with its page."""
    return link(Merchant, request.merchant_id, request.whose) if request.merchant else request.whose


def changes_of(request: ApprovalRequest) -> Values:
    """Return each value that is asked for, beside the one that was there."""
    is_change, values = bool(request.before), WORDS[request.kind].values
    before = dict(values(request, request.before)) if is_change else {}
    after = dict(values(request, request.after))
    for name, value in after.items():
        yield name, _beside(before.get(name, NOTHING), value) if is_change else value
    for name in before.keys() - after.keys():
        yield name, _beside(before[name], NOTHING)


def _says(text: Any) -> Callable[[ApprovalRequest], Any]:
    """Return what makes a consequence of `text`, in which the merchant is named."""
    return lambda request: str(text).format(merchant=request.whose)


def _of_key(request: ApprovalRequest) -> Any:
    text = gettext(
        "Anybody with the key can {does} of {merchant} in live mode. {requester} takes it and sees its text. "
        "It works until it is revoked or ends."
    )
    does, merchant = _what_it_does(request.after), request.merchant.title
    return text.format(does=does, merchant=merchant, requester=request.proposed_by)


def _what_it_does(asked: Content) -> str:
    match asked["kind"]:
        case ApiKey.Kind.SECRET:
            return gettext("charge payers, capture, void and refund, and read all payments")
        case ApiKey.Kind.ASSISTANT:
            text = gettext("move money up to the amounts of its rules, with no person to decide ({rules}),")
            alone = {tool: rule for tool, rule in asked["rules"].items() if rule}
            return text.format(rules="; ".join(rule_words(alone)))
        case _:
            # Any other has rights of its own, and none but these.
            return gettext(" and ").join(gettext(RIGHTS.get(right, right)) for right in asked["rights"])


def _may(content: Content) -> Values:
    yield _("Rights"), ", ".join(content["rights"]) or _("all of a secret key")
    if content.get("rules"):
        yield _("May ask for"), lines(rule_words(content["rules"]))


def _issued(_request: ApprovalRequest, content: Content) -> Values:
    yield _("Name"), content["name"] or NOTHING
    yield _("Kind"), ApiKey.Kind(content["kind"]).label
    yield from _may(content)
    yield _("Works from"), ", ".join(content["networks"]) or _("everywhere")
    days = content["days"]
    yield _("Ends"), gettext("{days} after it is taken").format(days=days_text(days)) if days else gettext("never")


def _rolled(_request: ApprovalRequest, content: Content) -> Values:
    yield from _may(content)
    yield _("Old key works for"), gettext("{hours} hours after the new one is taken").format(**content)


def _rolled_key(request: ApprovalRequest) -> Facts:
    yield _("Key"), link(ApiKey, request.subject_id, request.after["key"])


def _to_provider(request: ApprovalRequest) -> Any:
    connector, merchant = _connector(request), request.merchant.title
    hosts = " and ".join(connector.domains) if connector and connector.domains else "the provider"
    text = f"Live cards of {merchant} that are routed to this account go to {hosts}. The holder of the account"
    return f"{text} there gets the money. Make sure with the merchant that it is theirs."


def _account(request: ApprovalRequest, content: Content) -> Values:
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


def _changed_account(request: ApprovalRequest) -> Facts:
    account = ProviderAccount.objects.get(id=request.subject_id)
    yield "Account", link(ProviderAccount, account.id, f"{account} ({account.public_id})")
    yield "At", provider_title(account.provider)


def _connector(request: ApprovalRequest) -> Connector | None:
    if request.kind == Kind.ADD_ACCOUNT:
        return CONNECTORS.get(request.after["provider"])
    account = ProviderAccount.objects.filter(id=request.subject_id).first()
    return CONNECTORS.get(account.provider) if account else None


BY_ROUTE = _says(
    "New live charges of {merchant} may go by this route from now on, their cards included. Earlier charges are "
    "captured and refunded by their own route."
)


def _asked_route(content: Content) -> object:
    return sourcetypes.shown(content["source_type"]).label


def _route(_request: ApprovalRequest, content: Content) -> Values:
    amounts = (content[name] for name in ("amount_min", "amount_max"))
    least, most = (money(amount, content["currency"]) if amount else "any" for amount in amounts)
    yield _("Type"), _asked_route(content)
    yield _("Currency"), content["currency"] or "any"
    yield _("Smallest amount"), least
    yield _("Largest amount"), most
    yield _("Place"), content["position"]
    for name, label in ROUTE_SWITCHES.items():
        yield label, "yes" if content[name] else "no"


def _of_new_route(request: ApprovalRequest) -> Facts:
    account = ProviderAccount.objects.get(id=UUID(request.after["account"]))
    yield "Account", link(ProviderAccount, account.id, f"{account} at {provider_title(account.provider)}")


def _of_route(request: ApprovalRequest) -> Facts:
    route = Route.objects.select_related("account").get(id=request.subject_id)
    yield "Route", link(Route, route.id, route)
    yield "Account", link(ProviderAccount, route.account_id, route.account)


def _payout_account(_request: ApprovalRequest, content: Content) -> Values:
    yield _("Currency"), content["currency"]
    yield _("Holder"), content["holder"]
    yield "BIC", content["bic"]
    yield _("Account number"), gettext("typed by the requester, ending in {last4}").format(**content)


def _present_account(request: ApprovalRequest) -> Facts:
    own = PayoutAccount.objects.filter(merchant=request.merchant_id, livemode=True)
    present = own.filter(currency=request.after["currency"]).in_effect(clock.now()).first()
    yield _("In place of"), link(PayoutAccount, present.id, present) if present else _("no account yet")


def _schedule(_request: ApprovalRequest, content: Content) -> Values:
    yield _("Currency"), content["currency"]
    yield "Interval", content["interval"]
    yield "Delay", days_text(content["delay_days"])
    yield "Reserve", f"{content['reserve_percent']} % for {days_text(content['reserve_days'])}"
    account_id = content["provider_account"]
    account = ProviderAccount.objects.filter(id=account_id).first() if account_id else None
    way_out = link(ProviderAccount, account.id, account) if account else NOTHING if account_id else "a bank file"
    yield "Way out", way_out


def _of_record(request: ApprovalRequest) -> Any:
    if request.after["status"] != "returned":
        return "The books say that our bank has paid it. Make sure with the statement of our account."
    text = f"The balance of {request.merchant.title} has the money again, and the next payout pays it once more."
    return f"{text} Make sure that it is back in our account."


def _recorded(_request: ApprovalRequest, content: Content) -> Values:
    yield "Status", content["status"].replace("_", " ")


def _of_payout(request: ApprovalRequest) -> Facts:
    return payout_facts(Payout.objects.select_related("account").get(id=request.subject_id))


def payout_facts(payout: Payout) -> Facts:
    """Yield what a payout pays, and where it goes."""
    yield "Payout", link(Payout, payout.id, f"{payout}")
    yield "Amount", money(payout.amount, payout.currency)
    yield "Bank account", f"{payout.account}, {payout.account.bic}"
    yield "In effect since", moment_text(payout.account.effective_at)


def _of_file(request: ApprovalRequest) -> Facts:
    return file_facts(PayoutFile.objects.get(id=request.subject_id))


def file_facts(file: PayoutFile) -> Facts:
    """Yield what a bank file pays, from where, and who made and has it."""
    yield "Bank file", link(PayoutFile, file.id, file)
    yield "Payouts", file.count
    yield "Sum", money(file.total, file.currency)
    yield "Pay on", f"{file.execute_on:%d %b %Y}"
    yield "From our account", f"{file.debtor_bic}, ending in {file.debtor_last4}"
    yield "Made by", f"{file.created_by}, {moment_text(file.created_at)}"
    yield "First downloaded", moment_text(file.downloaded_at) if file.downloaded_at else NOTHING


COMPARE = (
    "Compare number and sum with what the bank shows. All payouts are then on their way, and none can be cancelled."
)
OF_PAYOUT = _says("Real money of {merchant} leaves for its bank account. It cannot be called back once it is sent.")


def _by_layout(request: ApprovalRequest) -> Any:
    text = f"Files of {request.after['account']} in no format that kaha knows are read so from then on."
    return f"{text} A wrong column hides differences or makes some up: look at a file of theirs."


def _layout(_request: ApprovalRequest, content: Content) -> Values:
    yield "Account", provider_title(content["account"])
    yield "Version", content["version"]
    for name, value in ColumnLayout.from_json(content["settings"]).facts():
        yield capfirst(name), value


def _of_limit(request: ApprovalRequest) -> Any:
    text = gettext("Each person of {merchant} who may refund gives back up to {most} of a payment alone.")
    return text.format(merchant=request.merchant.title, most=_limit(request.after))


def _limit(content: Content) -> str:
    return money(content["amount"], content["currency"])


def _raised(_request: ApprovalRequest, content: Content) -> Values:
    yield _("Given back alone"), _limit(content)


# Every kind that has the page of requests: a kind without a line is shown to nobody.
WORDS: dict[str, KindWords] = {
    Kind.ISSUE_KEY: KindWords(
        _of_key,
        lambda key: ", ".join(filter(None, (str(ApiKey.Kind(key["kind"]).label), key["name"]))),
        _issued,
    ),
    Kind.ROLL_KEY: KindWords(_of_key, itemgetter("key"), _rolled, _rolled_key),
    Kind.ADD_ACCOUNT: KindWords(_to_provider, itemgetter("title"), _account),
    Kind.CHANGE_ACCOUNT: KindWords(_to_provider, itemgetter("title"), _account, _changed_account),
    Kind.ADD_ROUTE: KindWords(BY_ROUTE, _asked_route, _route, _of_new_route),
    Kind.CHANGE_ROUTE: KindWords(BY_ROUTE, _asked_route, _route, _of_route),
    Kind.ADD_PAYOUT_ACCOUNT: KindWords(
        _says(
            "From 24 hours after the approval all that {merchant} earns goes to this account. Ask {merchant} by a "
            "telephone number that you know, not by one in a message about it."
        ),
        lambda account: gettext("{currency}, ending in {last4}").format(**account),
        _payout_account,
        _present_account,
    ),
    Kind.SET_PAYOUT_SCHEDULE: KindWords(
        _says(
            "Payouts of {merchant} made from now on have these terms. What goes out is not there any more for later "
            "refunds and disputes."
        ),
        lambda terms: f"{terms['currency']}, {terms['interval']}",
        _schedule,
    ),
    Kind.RECORD_PAYOUT: KindWords(_of_record, itemgetter("status"), _recorded, _of_payout),
    Kind.PAY_OUT: KindWords(OF_PAYOUT, str, subject=_of_payout),
    Kind.SEND_FILE: KindWords(_says(COMPARE), str, subject=_of_file),
    Kind.FILE_LAYOUT: KindWords(_by_layout, lambda asked: f"{asked['account']}, version {asked['version']}", _layout),
    Kind.RAISE_LIMIT: KindWords(_of_limit, _limit, _raised),
    Kind.MOVE_CUSTOMERS: KindWords(
        _says(
            "With rows, {merchant} can charge the live cards in this file. Without, who holds this key reads all card "
            "numbers of {merchant}. Compare what you see with {merchant} by telephone."
        ),
        itemgetter("digest"),
        lambda _, asked: iter(asked.items()),
    ),
}


def _beside(before: object, after: object) -> SafeString | object:
    if before == after or after == "stays as it is":
        return format_html(gettext("{} (unchanged)"), after)
    if after == "typed by the requester":
        return "replaced by what the requester typed"
    return format_html("<del>{}</del> → <ins>{}</ins>", before, after)
