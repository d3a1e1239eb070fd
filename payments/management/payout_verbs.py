"""The verbs of `merchant` that set up payouts. The number of a bank account is never an argument."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import replace
from getpass import getpass
from typing import Any

from django.core.management.base import CommandError

from payments import clock
from payments.domain.merchants.merchants import MODES
from payments.domain.payouts import accounts, terms
from payments.domain.payouts.accounts import BadPayoutAccount, Details
from payments.domain.payouts.terms import BadSchedule, Terms
from payments.ids import parse_id
from payments.management import arguments
from payments.models import PayoutSchedule

REFUSALS = (BadPayoutAccount, BadSchedule)
NUMBERS = ("delay_days", "reserve_percent", "reserve_days")
BANK_FILE = "file"


def _takes_payout_account(parser: ArgumentParser) -> None:
    _add_place(parser)
    parser.add_argument("--holder", required=True, help="the holder's name, as the bank has it")
    parser.add_argument("--bic", required=True, metavar="BNORPHMM", help="the bank's BIC (ISO 9362)")


def _set_payout_account(options: dict[str, Any]) -> Iterator[str]:
    owner = arguments.merchant_named(options["merchant"])
    details = accounts.checked(Details(options["currency"], options["holder"], options["bic"]))
    number = getpass("Account number: ") if sys.stdin.isatty() else sys.stdin.readline().strip()
    account = accounts.add_account(owner, MODES[options["mode"]], details, number)
    yield f"Payouts in {account.currency} go to {account} from {clock.iso(account.effective_at)}."


def _takes_payout_schedule(parser: ArgumentParser) -> None:
    _add_place(parser)
    parser.add_argument("--interval", choices=PayoutSchedule.Interval.values, help="when payouts are made")
    parser.add_argument(
        "--delay-days", type=arguments.whole_number, metavar="N", help="from the end of a settlement's day"
    )
    parser.add_argument(
        "--reserve-percent", type=arguments.whole_number, metavar="N", help="what is kept of each payout"
    )
    parser.add_argument("--reserve-days", type=arguments.whole_number, metavar="N", help="for how long it is kept")
    way_out = f"the provider account (pac_…) that carries payouts out, or {BANK_FILE}"
    parser.add_argument("--way-out", metavar="pac_…", help=way_out)


def _set_payout_schedule(options: dict[str, Any]) -> Iterator[str]:
    owner, livemode = arguments.merchant_named(options["merchant"]), MODES[options["mode"]]
    schedule = terms.schedule_of(owner, livemode, options["currency"])
    given = {name: options[name] for name in ("interval", *NUMBERS) if options[name] is not None}
    if options["way_out"] is not None:
        given["provider_account"] = _way_out(options["way_out"])
    wanted = replace(Terms.of(schedule) if schedule else Terms(), **given)
    made = terms.set_schedule(owner, livemode, options["currency"], wanted)
    run = f", next {clock.iso(made.next_at)}" if made.next_at else ""
    kept = f"{made.reserve_percent} % kept for {made.reserve_days} days"
    yield f"Payouts in {made.currency}: {made.interval}{run}, {made.delay_days} days of delay, {kept}."


def _way_out(text: str) -> str:
    if text == BANK_FILE:
        return ""
    account_id = parse_id("pac", text)
    if account_id is None:
        raise CommandError(f"Give the account's ID (pac_…), or {BANK_FILE}.")
    return str(account_id)


def _add_place(parser: ArgumentParser) -> None:
    parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
    parser.add_argument("currency", help="the ISO 4217 code, such as PHP")
    parser.add_argument("--mode", required=True, choices=list(MODES))


VERBS = {
    "set-payout-account": (
        "Sets the bank account that payouts go to: in test mode at once, in live mode after 24 hours. Asks for its "
        "number, or reads it from standard input.",
        _takes_payout_account,
        _set_payout_account,
    ),
    "set-payout-schedule": (
        "Sets when payouts are made and what is kept of them; what is not given stays as it is.",
        _takes_payout_schedule,
        _set_payout_schedule,
    ),
}
