import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import click
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.maintenance import key_rotation, reseal
from payments.domain.maintenance.data_keys import all_wrapped_keys
from payments.management.tables import in_columns
from payments.vault import VaultError, VaultUnavailable


class Command(BaseCommand):
    help = (
        "Rewraps every data key with the newest key-encryption key, while the service runs. After an interruption run "
        "it again, and it continues. At its end it lists the key-encryption keys that are still needed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--re-encrypt",
            action="store_true",
            help="also retire the data keys and encrypt every value with new ones; the worker destroys the old ones",
        )

    def handle(self, *, re_encrypt: bool, **options: Any) -> None:
        try:
            if re_encrypt:
                key_rotation.retire_data_keys()
            _walk("data keys", len(all_wrapped_keys()), (1 for _ in key_rotation.rewrap_data_keys()))
            for column in reseal.COLUMNS:
                _walk(column.label, reseal.stale(column).count(), reseal.reseal(column))
            key_rotation.finish()
        except (VaultUnavailable, VaultError) as fault:
            raise CommandError(f"{fault} What was done so far stays; run this again.") from fault
        self.stdout.write("\n".join(_state()))


def _walk(label: str, length: int, steps: Iterable[int]) -> None:
    """Consume `steps`, each a number of finished items, with a progress bar of `length` items."""
    with click.progressbar(length=length, label=f"{label:16}", show_pos=True, file=sys.stderr) as bar:
        for count in steps:
            bar.update(count)


def _state() -> list[str]:
    left = sum(reseal.stale(column).count() for column in reseal.COLUMNS)
    needed = Counter(key.kek for key in all_wrapped_keys())
    return in_columns(
        [
            ("values still sealed with old keys", left),
            ("data keys retired and not destroyed yet", key_rotation.retired().count()),
            *((f"data keys wrapped by {kek}", count) for kek, count in sorted(needed.items())),
        ]
    )
