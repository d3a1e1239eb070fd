"""Management of merchants: their keys, webhook secrets and terms."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments import clock
from payments.domain.merchants import merchants, terms
from payments.domain.merchants.row_lookup import NotOne
from payments.domain.risk import decline_limits
from payments.ids import public_id
from payments.ledger.fees import DISPUTE, BadRate, Rate
from payments.management import arguments, key_verbs, payout_verbs
from payments.models import WebhookSecret
from payments.money import plain_amount

REFUSALS = (
    *(NotOne, terms.BadTerms, BadRate, decline_limits.BadBudget),
    *key_verbs.REFUSALS,
    *payout_verbs.REFUSALS,
)


class Command(BaseCommand):
    help = "Creates merchants, manages their keys and webhook secrets, and sets their terms."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        for name, (words, declare, _) in VERBS.items():
            declare(verbs.add_parser(name, help=words, description=words))

    def handle(self, *, verb: str, **options: Any) -> None:
        try:
            for text in VERBS[verb][2](options):
                self.stdout.write(text)
        except REFUSALS as fault:
            raise CommandError(str(fault)) from None
        except ValidationError as fault:
            raise CommandError(_one_line(fault)) from None


def _one_line(fault: ValidationError) -> str:
    if not hasattr(fault, "error_dict"):
        return " ".join(fault.messages)
    return " ".join(f"{name}: {' '.join(messages)}" for name, messages in fault.message_dict.items())


def _takes_title(parser: ArgumentParser) -> None:
    parser.add_argument("title", help="the merchant's name, up to 100 characters")
    parser.add_argument("--account-name", default="", help="the name on the account (default: the title)")
    descriptor = "what payers read on their card statement (default: the account name)"
    parser.add_argument("--statement-descriptor", default="", help=descriptor)
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one line of JSON instead")


def _create(options: dict[str, Any]) -> Iterator[str]:
    made = merchants.create_merchant(options["title"], options["account_name"], options["statement_descriptor"])
    shown = {"merchant": public_id("mer", made.merchant.id), **made.keys, **made.webhook_secrets}
    if options["as_json"]:
        yield json.dumps(shown)
        return
    yield "\n".join(f"{name:12}{value}" for name, value in shown.items())
    yield "\nKeep the sk_ keys and whsec_ secrets now: they are shown only this once."


def _takes_secrets_to_roll(parser: ArgumentParser) -> None:
    parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
    parser.add_argument("--mode", choices=list(merchants.MODES), help="only the secret of this mode")
    key_verbs.add_overlap(parser, "how long an old secret still signs")


def _roll_secret(options: dict[str, Any]) -> Iterator[str]:
    owner = arguments.merchant_named(options["merchant"])
    for name in [options["mode"]] if options["mode"] else merchants.MODES:
        livemode = merchants.MODES[name]
        text = merchants.roll_webhook_secret(owner, livemode, options["overlap"])
        working = WebhookSecret.objects.filter(merchant=owner, livemode=livemode, expires_at__gt=clock.now())
        ends = working.order_by("-id").values_list("expires_at", flat=True)
        older = [f"{'older one':12}signs too until {clock.iso(end)}" for end in ends if end]
        yield "\n".join([f"{f'whsec_{name}':12}{text}", *older])
    yield "\nKeep what is new now: it is shown only this once."


def _takes_fee(parser: ArgumentParser) -> None:
    parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
    parser.add_argument("type", help="the source type, such as card; or dispute")
    parser.add_argument("currency", help="the ISO 4217 code, such as PHP")
    parser.add_argument(
        "--basis-points", type=arguments.whole_number, metavar="N", help="a share of the amount: 350 is 3.5 %%"
    )
    parser.add_argument(
        "--fixed", type=arguments.whole_number, metavar="N", help="an amount in the currency's smallest unit"
    )
    parser.add_argument("--remove", action="store_true", help="such charges have no fee any more")


def _set_fee(options: dict[str, Any]) -> Iterator[str]:
    of = arguments.merchant_named(options["merchant"]), options["type"], options["currency"]
    given = {name: options[name] for name in ("basis_points", "fixed") if options[name] is not None}
    if bool(given) == options["remove"]:
        raise CommandError("Give --basis-points, --fixed or both, or --remove alone.")
    rate = Rate(**given)
    if given:
        terms.set_fee(*of, rate)
    else:
        terms.remove_fee(*of)
    fixed = f"{of[2]} {plain_amount(rate.fixed, of[2])}"
    what = "dispute" if of[1] == DISPUTE else f"charge on {of[1]}"
    yield f"From now on a {what} costs {rate.basis_points} basis points and {fixed}."


def _takes_payment_method(parser: ArgumentParser) -> None:
    parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
    parser.add_argument("type", help="the source type, such as gcash")
    parser.add_argument("state", choices=["on", "off"])
    parser.add_argument("--mode", choices=list(merchants.MODES), help="only in this mode (default: in both)")


def _set_payment_method(options: dict[str, Any]) -> Iterator[str]:
    owner, mode, state = arguments.merchant_named(options["merchant"]), options["mode"], options["state"]
    terms.set_payment_method(owner, options["type"], state == "on", merchants.MODES[mode] if mode else None)
    yield f"{options['type']} is {state}{f' in {mode} mode' if mode else ''}."


def _takes_decline_budget(parser: ArgumentParser) -> None:
    parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
    parser.add_argument(
        "budget", nargs="?", type=arguments.whole_number, metavar="N", help="the number of declines, 1 or more"
    )
    parser.add_argument("--usual", action="store_true", help="the number in DECLINE_LIMITS")


def _set_decline_budget(options: dict[str, Any]) -> Iterator[str]:
    budget = options["budget"]
    if (budget is None) != options["usual"]:
        raise CommandError("Give a number, or --usual alone.")
    decline_limits.set_budget(arguments.merchant_named(options["merchant"]), budget)
    borne = "the usual number of" if budget is None else budget
    yield f"From now on {borne} declines are borne in {settings.DECLINE_WINDOW_MINUTES} minutes."


# Each verb with its help, its arguments and its function.
VERBS = {
    "create": (
        "Creates a merchant with its keys and webhook secrets for test and live mode, and shows them.",
        _takes_title,
        _create,
    ),
    **key_verbs.VERBS,
    "roll-secret": (
        "Replaces a merchant's webhook secrets: shows new ones, and the old ones still sign for a while.",
        _takes_secrets_to_roll,
        _roll_secret,
    ),
    "set-fee": ("Sets the fee of a merchant's new charges; earlier charges keep their rate.", _takes_fee, _set_fee),
    "set-payment-method": (
        "Switches a source type on or off for a merchant's new sources; earlier ones can still be charged.",
        _takes_payment_method,
        _set_payment_method,
    ),
    "set-decline-budget": (
        "Sets how many card charges of a merchant may be declined in a window, in each mode, before further ones are "
        "refused; its keys and addresses keep their shares of it. Applies from the next charge on.",
        _takes_decline_budget,
        _set_decline_budget,
    ),
    **payout_verbs.VERBS,
}
