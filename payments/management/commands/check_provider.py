import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments import ids
from payments.domain.routing import provider_check
from payments.domain.routing.provider_check import Step
from payments.management.outcomes import said
from payments.models import ProviderAccount
from payments.providers.base import ActionRequired

# How many accounts are named to whoever named none of them.
SHOWN = 20


class Command(BaseCommand):
    help = (
        "Makes a small payment of each source type at a provider, with the credentials of one of our accounts there, "
        "and undoes it: holds are captured and refunded, or released, and what nobody paid is cancelled. Prints each "
        "step and what the provider answered; the exit status is 0 where all went well. On a terminal it waits while "
        "you pay on the provider's pages. Kaha's own books know nothing of it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account", help="the provider account's ID (pac_…)")
        parser.add_argument("--live", action="store_true", help="an account of live mode, where real money moves")

    def handle(self, *, account: str, live: bool, **_: Any) -> None:
        found = _account_named(account)
        _agree(found, live)
        steps: list[Step] = []
        provider_check.check(found, lambda step: steps.append(self._shown(step)), self._pay)
        bad = sum(not step.is_well for step in steps)
        if bad:
            raise CommandError(f"{bad} of {len(steps)} steps did not go well.")
        self.stdout.write(f"All {len(steps)} steps went well.")

    def _shown(self, step: Step) -> Step:
        verdict = "  " if step.is_well else "! "
        self.stdout.write(f"{verdict}{step.source_type or '-':10}{step.name:12}{said(step.outcome)}")
        self.stdout.flush()
        return step

    def _pay(self, action: ActionRequired) -> Mapping[str, str] | None:
        """What the payer brought along, whose part is played at this terminal; None where nobody is there."""
        if not sys.stdin.isatty():
            return None
        self.stdout.write("Pay there, then paste the address that you came back to; only Enter leaves it unpaid.")
        address = input("> ").strip()
        return dict(parse_qsl(urlsplit(address).query)) if address else None


def _account_named(text: str) -> ProviderAccount:
    account_id = ids.parse_id(ProviderAccount.PREFIX, text)
    found = account_id and ProviderAccount.objects.select_related("merchant").filter(id=account_id).first()
    if not found:
        raise CommandError(f"There is no provider account {text!r}. There are:\n{_listed()}")
    return found


def _listed() -> str:
    """The newest accounts, by what they are told apart."""
    accounts = ProviderAccount.objects.select_related("merchant").order_by("-id")[:SHOWN]
    told = [
        f"{account.public_id}  {account.provider}, {'live' if account.livemode else 'test'} mode: "
        f"{account.title} of {account.merchant}"
        for account in accounts
    ]
    return "\n".join(told) or "none, for nobody has connected one in the admin yet."


def _agree(account: ProviderAccount, live: bool) -> None:
    """Raises CommandError where real money would move without anybody having said so twice."""
    if account.livemode != live:
        raise CommandError("--live is for accounts of live mode, and for them alone.")
    if not live:
        return
    question = f"Real money of {account.merchant} will move at {account.provider}. Type the account's ID to go on: "
    try:
        typed = input(question)
    except EOFError:
        typed = ""
    if typed.strip() != account.public_id:
        raise CommandError("That is not the account's ID, so nothing was done.")
