import json
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments import ids
from payments.domain.routing import provider_check
from payments.domain.routing.provider_check import Step
from payments.models import ProviderAccount
from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotFound,
    NotSent,
    Outcome,
    Pending,
    Rejected,
    Unknown,
)
from payments.sensitive_data.redaction import redact_all

# How many accounts the error for an unknown one lists.
SHOWN = 20


class Command(BaseCommand):
    help = (
        "Makes a small payment of each source type at a provider, with the credentials of one provider account, and "
        "undoes it: holds are captured and refunded, or released, and unpaid payments are cancelled. Prints each step "
        "and the provider's answer. Exits with status 0 if all went well. On a terminal it waits while you pay on the "
        "provider's pages. Nothing of it is written to kaha's ledger."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account", help="the provider account's ID (pac_…)")
        parser.add_argument("--live", action="store_true", help="an account of live mode, where real money moves")

    def handle(self, *, account: str, live: bool, **_: Any) -> None:
        found = _account_named(account)
        _agree(found, live)
        steps: list[Step] = []
        try:
            provider_check.check(found, lambda step: steps.append(self._shown(step)), self._pay)
        except provider_check.NoRoute as reason:
            raise CommandError(str(reason)) from None
        bad = sum(not step.is_well for step in steps)
        if bad:
            raise CommandError(f"{bad} of {len(steps)} steps did not go well.")
        self.stdout.write(f"All {len(steps)} steps went well.")

    def _shown(self, step: Step) -> Step:
        mark = "  " if step.is_well else "! "
        self.stdout.write(f"{mark}{step.source_type or '-':10}{step.name:12}{' '.join(_words(step.outcome).split())}")
        self.stdout.flush()
        return step

    def _pay(self, action: ActionRequired) -> Mapping[str, str] | None:
        """Return the query of the payer's return address as pasted on the terminal; None without a terminal."""
        if not sys.stdin.isatty():
            return None
        self.stdout.write("Pay there, then paste the address that you were sent back to; Enter alone leaves it unpaid.")
        address = input("> ").strip()
        return dict(parse_qsl(urlsplit(address).query)) if address else None


def _account_named(text: str) -> ProviderAccount:
    accounts = ProviderAccount.objects.select_related("merchant")
    account_id = ids.parse_id(ProviderAccount.PREFIX, text)
    if found := account_id and accounts.filter(id=account_id).first():
        return found
    lines = [
        f"{account.public_id}  {account.provider}, {'live' if account.livemode else 'test'} mode: "
        f"{account.title} of {account.merchant}"
        for account in accounts.order_by("-id")[:SHOWN]
    ]
    listed = "\n".join(lines) or "none: connect one in the admin first."
    raise CommandError(f"There is no provider account {text!r}. There are:\n{listed}")


def _agree(account: ProviderAccount, live: bool) -> None:
    """Raise CommandError if real money would move without --live and a typed confirmation."""
    if account.livemode != live:
        raise CommandError("--live is for accounts of live mode, and for them alone.")
    if not live:
        return
    question = f"Real money of {account.merchant} will move at {account.provider}. Type the account's ID to continue: "
    try:
        typed = input(question)
    except EOFError:
        typed = ""
    if typed.strip() != account.public_id:
        raise CommandError("That is not the account's ID, so nothing was done.")


def _words(outcome: Outcome) -> str:
    """Return words about an outcome, with the provider's references and addresses unredacted."""
    match outcome:
        case Approved(ref, captured, _, response):
            facts = json.dumps(redact_all(response)) if response else ""
            return f"approved{', captured' if captured else ''} {ref} {facts}"
        case Declined(code, ref, provider_code, message):
            return f"declined, {code} {ref} ({provider_code}: {message})"
        case ActionRequired(ref, url, _, qr):
            return f"the payer must act {ref} {url or qr}"
        case Pending(ref):
            return f"pending, the end comes later {ref}"
        case _:
            return _without_answer(outcome)


def _without_answer(outcome: Rejected | Unknown | NotSent | NotFound) -> str:
    match outcome:
        case Rejected(provider_code, message):
            return f"rejected, our request or account is wrong ({provider_code}: {message})"
        case Unknown(why):
            return f"unknown, it may have happened ({why})"
        case NotSent(why):
            return f"not sent ({why})"
        case NotFound():
            return "the provider knows nothing of it"
