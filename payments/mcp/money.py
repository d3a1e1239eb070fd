"""Tools that move money: each of them only asks, and the key's rule or a person decides."""

import json
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

from django.core.exceptions import ValidationError

from payments import clock
from payments.api.access.idempotency_headers import LENGTH_MAX
from payments.api.responses.errors import ApiError
from payments.api.validation.fields import Currency, StrictBoolean, StrictString
from payments.api.validation.payment_links import LinkInput
from payments.api.validation.payment_requests import CollectingRequestInput
from payments.api.validation.serializers import CaptureInput, ChargeInput, RefundInput
from payments.api.validation.strict import Nothing, StrictSerializer
from payments.api.views.base import validated
from payments.domain.approvals.limits import lets_through
from payments.domain.approvals.request import ask
from payments.domain.approvals.verbs import PAYOUT, TOOLS
from payments.domain.catalogue.error_table import NOT_ALLOWED
from payments.domain.charging.verbs import CAPTURE, CHARGE, ON_CHARGES, REFUND, VOID
from payments.domain.checkout.verbs import LINK, REQUEST
from payments.domain.merchants.assistants import caller_of
from payments.domain.operators.four_eyes import Refused
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.verbs import Call
from payments.ids import public_id
from payments.json_codecs.verbatim_json import to_bytes
from payments.mcp.reads import description
from payments.mcp.schemas import narrowed
from payments.mcp.tools import Arguments, Asked, Own, Refusal, Tool, own
from payments.models import ApiKey, ApprovalRequest, AssistantCall
from payments.models.operators.reasons import NOTE_MAX_LENGTH
from payments.money import DEFAULT_CURRENCY

State = ApprovalRequest.State
LATEST = 20
STATES = {
    State.PROPOSED: "A person decides. Call again with the same arguments to see how it was decided.",
    State.APPROVED: "Approved, and being executed. Call again with the same arguments.",
    State.DONE: "Executed: asked of the provider, or made. Read `made` for its status.",
    State.REFUSED: "Refused by the service or the provider: nothing more was moved.",
    State.REJECTED: "A person rejected it. Do not ask for it again in another way.",
}


class AskedInput(StrictSerializer):
    """What every tool that moves money takes beside its own arguments."""

    idempotency_key = StrictString(
        min_length=1,
        max_length=LENGTH_MAX,
        help_text="A text of your choice for this one wish. With the same one, nothing is asked or done twice.",
    )
    why = StrictString(min_length=1, max_length=NOTE_MAX_LENGTH, help_text="Why, for the person who decides.")
    dry_run = StrictBoolean(default=False, help_text="`true` says what would happen, and asks for nothing.")


class PayoutInput(StrictSerializer):
    """The currency of the balance to pay out."""

    currency = Currency(default=DEFAULT_CURRENCY, help_text="ISO 4217 code of three letters.")


# The arguments of each tool are those of a call of the API, but for some.
FORMS: Mapping[str, type[StrictSerializer]] = {
    CHARGE.name: ChargeInput,
    CAPTURE.name: CaptureInput,
    VOID.name: Nothing,
    REFUND.name: RefundInput,
    LINK.name: LinkInput,
    REQUEST.name: CollectingRequestInput,
    PAYOUT.name: PayoutInput,
}
WITHOUT = {
    CHARGE.name: ("cvc", "require_auth", "redirect_url", "initiator"),
    REQUEST.name: ("source", "collect"),
}


def money_tools(key: ApiKey) -> Iterator[Tool]:
    """Yield the tools that the key's rules name, and the list of what was asked for."""
    for name in FORMS.keys() & key.rules.keys():
        yield _tool(name)
    if key.rules:
        schema = {"type": "object", "properties": {}, "additionalProperties": False}
        yield Tool("list_asked", "The newest calls that asked to move money, and how each was decided.", schema, _list)


@cache
def _tool(name: str) -> Tool:
    text = (
        f"Ask to {TOOLS[name].tool}. Nothing moves before a person approves it, unless the key's own rule lets the "
        "amount through. Try it with dry_run first."
    )
    return Tool(name, text, _schema(name), partial(_call, name), moves_money=True)


def _schema(name: str) -> Mapping[str, Any]:
    """Return the JSON Schema of a tool's arguments: the body of the API's call, and what every tool takes."""
    form, known = FORMS[name], description()["components"]["schemas"]
    body = known.get(form.__name__) or {"properties": _members(form)}
    members = {member: schema for member, schema in body["properties"].items() if member not in WITHOUT.get(name, ())}
    about = {"id": {"type": "string", "description": "The ID of the charge."}} if TOOLS[name] in ON_CHARGES else {}
    return narrowed(
        {
            "type": "object",
            "properties": {**about, **members, **_members(AskedInput)},
            "required": [*about, *body.get("required", ()), "idempotency_key", "why"],
        },
        known,
    )


def _members(form: type[StrictSerializer]) -> dict[str, Any]:
    fields: Mapping[str, Any] = form().fields
    return {name: field.schema() | {"description": field.help_text} for name, field in fields.items()}


def _call(name: str, asked: Asked, arguments: Arguments) -> Any:
    form, given = FORMS[name], dict(arguments)
    about = str(given.pop("id", "")) if TOOLS[name] in ON_CHARGES else ""
    of_every = {member: given.pop(member) for member in _members(AskedInput) if member in given}
    try:
        wish = validated(AskedInput, of_every)
        body = validated(form, given, livemode=asked.key.livemode)
        # As it is stored until somebody decides.
        call = Call(name, about, json.loads(to_bytes(body)))
        if wish["dry_run"]:
            return _would(asked.key, call)
        return _shown(ask(asked.key, call, wish["idempotency_key"], wish["why"]))
    except ApiError as error:
        faults = "; ".join(f"{fault.name}: {fault.msg}" for fault in error.errors)
        raise Refusal(error.code, faults or error.message) from error
    except PaymentError as refusal:
        raise Refusal(refusal.code, refusal.message) from refusal
    except Refused as refusal:
        raise Refusal("too_many_open", str(refusal)) from refusal
    except ValidationError as fault:
        raise Refusal(NOT_ALLOWED, "; ".join(fault.messages)) from fault


def _would(key: ApiKey, call: Call) -> dict[str, Any]:
    """Return what a call would do; nothing is written."""
    planned = TOOLS[call.tool].plan(caller_of(key), call)
    is_alone = lets_through(key, call.tool, planned.amount, planned.currency, clock.now())
    shown = {"object": "dry_run", "tool": call.tool, "amount": planned.amount, "currency": planned.currency}
    decides = "The key's rule lets it through: it is done at once." if is_alone else "A person decides."
    return own({**shown, **planned.facts, "needs_person": not is_alone, "note": decides})


def _shown(request: ApprovalRequest) -> dict[str, Any]:
    made = {"made": request.after["made"]} if "made" in request.after else {}
    shown = {
        "object": "asked",
        "id": public_id("apr", request.id),
        "tool": request.after["tool"],
        "status": request.state,
        "amount": request.amount,
        "currency": request.currency,
        **({"about": request.after["about"]} if request.after["about"] else {}),
        **({"code": request.code} if request.code else {}),
        **made,
        "needs_person": request.limit is None,
        "note": STATES.get(State(request.state), "Nothing was moved."),
    }
    return own(shown)


def _list(asked: Asked, _: Arguments) -> Any:
    rows = AssistantCall.objects.filter(proposed_by=asked.key.asks_as_id, merchant=asked.key.merchant_id)
    return {"object": Own("list"), "data": [_shown(row) for row in rows.order_by("-created_at")[:LATEST]]}
