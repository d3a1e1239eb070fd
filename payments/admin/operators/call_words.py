"""What an assistant's call does, in words: its name, its consequence, and each of its arguments."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from customers.domain import checkout as customers
from payments import clock
from payments.admin.framework.formats import lines, link, money, short_id, source_label
from payments.admin.framework.object_actions import Facts
from payments.admin.operators import words
from payments.admin.operators.words import NOT_ALLOWED, REFUSALS, named, refund_reason
from payments.domain import sources
from payments.domain.approvals.verbs import PAYOUT, VERBS, plan_of
from payments.domain.charging.verbs import CHARGE, ON_CHARGES, REFUND, RELEASE
from payments.domain.checkout.verbs import LINK, REQUEST
from payments.domain.merchants.assistants import Rule, caller_of
from payments.domain.payouts.schedules import account_in_effect
from payments.domain.payouts.terms import schedule_of
from payments.domain.shared.errors import PaymentError
from payments.ids import parse_id
from payments.models import ApiKey, AssistantCall, Checkout, PaymentLink, Payout, PayoutAccount, Source
from payments.sourcetypes import shown

CAREFUL = _(
    "An assistant asks, perhaps because of a text that somebody else wrote. Look at the payment itself, and approve "
    "only what you would do on your own."
)
HOLD = _("{amount} is held on a card that is kept for a customer.")
LABELS = {
    "allow_adjustable_quantity": _("Payers choose how many"),
    "branding": _("Branding"),
    "capture": _("Captured at once"),
    "customer": _("Customer"),
    "delivery_methods": _("Sent by"),
    "description": _("Description"),
    "expiry": _("Last day"),
    "internal_name": _("Name"),
    "line_items": _("Items"),
    "maximum_payments": _("How often it can be paid"),
    "message": _("Message"),
    "metadata": _("Metadata"),
    "payment_method_types": _("Ways to pay"),
    "phone_number_collection": _("Asks for a phone number"),
    "reason": _("Reason"),
    "redirect_url": _("After paying"),
    "require_auth": _("3-D Secure"),
    "schedule": _("Series"),
    "shipping_address_collection": _("Ship to"),
    "source": _("Source"),
    "statement_descriptor": _("Statement"),
}
# Arguments that are not worth a line where they are as usual.
USUAL = {"capture": True, "require_auth": True, "phone_number_collection": False}
LEFT = {REFUND.name: _("Left after it"), PAYOUT.name: _("Kept as reserve")}
MADE = {LINK.name: ("plink", PaymentLink), REQUEST.name: ("pr", Checkout), PAYOUT.name: ("po", Payout)}


def consequence_of(call: AssistantCall) -> str:
    """Return what comes of an approval."""
    verb = RELEASE if call.after.get("held") else VERBS[call.verb]
    if verb in ON_CHARGES and call.charge:
        does = words.consequence_of(verb, call.charge, call.amount)
    else:
        is_hold = verb is CHARGE and not call.body["capture"]
        does = str(HOLD if is_hold else verb.does).format(amount=money(call.amount, call.currency))
    return format_html("{}<br>{}", does, CAREFUL)


def plan_facts(call: AssistantCall, key: ApiKey) -> Facts:
    """Yield what the call would move now: the fee and what is left, or why it would be refused."""
    try:
        planned = plan_of(key, call)
    except PaymentError as refusal:
        yield _("If approved now"), gettext("Refused. {why}").format(why=REFUSALS.get(refusal.code, NOT_ALLOWED))
        return
    if planned.amount != call.amount:
        yield _("Moves now"), money(planned.amount, call.currency)
    if "fee" in planned.facts:
        yield _("Fee"), money(planned.facts["fee"], call.currency)
    if planned.facts.get("left"):
        yield LEFT.get(call.verb, _("After the fee")), money(planned.facts["left"], call.currency)
    if call.verb == PAYOUT.name:
        schedule = schedule_of(call.merchant, call.livemode, call.currency)
        if account := schedule and account_in_effect(schedule, clock.now()):
            yield _("Account"), link(PayoutAccount, account.pk, account)
        yield _("Who approves"), gettext("Only people who may pay out approve this, such as kaha's finance.")


def arguments_of(call: AssistantCall, key: ApiKey) -> Iterator[tuple[Any, object]]:
    """Yield each argument of a call but its amount."""
    for name, value in call.body.items():
        if name not in ("amount", "currency") and value not in ("", None, [], {}, USUAL.get(name)):
            yield LABELS.get(name, name), _shown(call, key, name, value)


def _shown(call: AssistantCall, key: ApiKey, name: str, value: Any) -> object:
    match name, value:
        case "line_items", _:
            return lines(_item(each, call.currency) for each in value)
        case "source", _:
            return _source(key, value)
        case "customer", _:
            return _customer(key, value)
        case "reason", _:
            return refund_reason(value)
        case "payment_method_types", _:
            return ", ".join(shown(each).label for each in value)
        case _, bool():
            return gettext("yes") if value else gettext("no")
        case _, Mapping():
            return lines(f"{member}: {_flat(each)}" for member, each in value.items())
        case _:
            return _flat(value)


def _item(item: Mapping[str, Any], currency: str) -> str:
    """Return an item with all that payers see of it."""
    texts = [f"{item['quantity']:,} × {item['name']}", money(item["amount"], currency)]
    texts += [str(item[name]) for name in ("description", "image") if item.get(name)]
    if item.get("remaining") is not None:
        texts.append(gettext("{count} in stock").format(count=f"{item['remaining']:,}"))
    return ", ".join(texts)


def _flat(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _source(key: ApiKey, text: str) -> object:
    try:
        source = sources.find(caller_of(key), text)
    except PaymentError:
        return text
    label = source_label(source)
    return link(Source, source.pk, f"{source.payer_name}, {label}" if source.payer_name else label)


def _customer(key: ApiKey, text: str) -> object:
    try:
        name = customers.find(caller_of(key), text).name
    except PaymentError:
        return text
    return format_html('<a href="{}?q={}">{}</a>', reverse("admin:find"), text, name or short_id(text))


def made_by(call: AssistantCall) -> object:
    """Return a link to what a call made that is no charge."""
    prefix, model = MADE.get(call.verb, ("", Checkout))
    made = call.after.get("made", "")
    pk = parse_id(prefix, made) if prefix else None
    return link(model, pk, short_id(made)) if pk else ""


def rule_words(rules: Mapping[str, Any]) -> list[str]:
    """Return what an assistant's key may ask for, and what of it no person decides, a sentence for each tool."""
    return [_rule_words(tool, Rule.of(rules, tool)) for tool in sorted(rules)]


def _rule_words(tool: str, rule: Rule | None) -> str:
    if rule is None:
        return gettext("{tool}: a person decides each").format(tool=capfirst(named(tool)))
    each, day = (money(amount, rule.currency) for amount in (rule.each, rule.day))
    text = gettext("{tool}: alone up to {each} each and {day} a day, above that a person decides")
    return text.format(tool=capfirst(named(tool)), each=each, day=day)
