import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.merchants import merchants
from payments.ids import public_id


class Command(BaseCommand):
    help = "Creates a merchant with its keys and callback secrets for test and live mode, and shows them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("title", help="the merchant's name, up to 100 characters")
        parser.add_argument("--account-name", default="", help="the name on the account (default: the title)")
        parser.add_argument(
            "--statement-descriptor",
            default="",
            help="what payers read on their card statement (default: the account name)",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one line of JSON instead")

    def handle(self, *, title: str, account_name: str, statement_descriptor: str, as_json: bool, **_: Any) -> None:
        try:
            made = merchants.create_merchant(title, account_name, statement_descriptor)
        except ValidationError as fault:
            raise CommandError(_one_line(fault)) from None
        self.stdout.write(json.dumps(_shown(made)) if as_json else _as_text(made))


def _one_line(fault: ValidationError) -> str:
    if not hasattr(fault, "error_dict"):
        return " ".join(fault.messages)
    return " ".join(f"{name}: {' '.join(messages)}" for name, messages in fault.message_dict.items())


def _shown(made: merchants.NewMerchant) -> dict[str, str]:
    return {"merchant": public_id("mer", made.merchant.id), **made.keys, **made.notify_secrets}


def _as_text(made: merchants.NewMerchant) -> str:
    lines = [f"{name:12}{value}" for name, value in _shown(made).items()]
    return "\n".join([*lines, "", "Keep the sk_ keys and whsec_ secrets now: they are shown only this once."])
