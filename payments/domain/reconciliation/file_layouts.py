"""What reads a file: the format of its provider or bank where one is known, else the layout in force.

A layout is of one account: a provider's, by its name, or a bank account of ours. Its versions are made by approvals.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.reconciliation import files, runs
from payments.domain.reconciliation.bank import bank_files
from payments.domain.reconciliation.columns import readers, tables
from payments.domain.reconciliation.columns.layout import AnyReport, AnyStatement, ColumnLayout
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.layouts import LAYOUTS
from payments.domain.reconciliation.runs import SettlementReport
from payments.models import FileLayout, OwnBankAccount
from payments.providers.registry import PROVIDER_NAMES

NO_LAYOUT = "no layout of {account} reads it: make one under Reconciliation, Layouts"


class Overtaken(Exception):
    """Another version came since this one was made; nothing was changed."""


@dataclass(frozen=True, slots=True)
class TakenFile:
    """A file that can be read: a text in a known format, or bytes in base64 for a `layout`."""

    account: str
    content: str
    layout: FileLayout | None

    @property
    def rows(self) -> int:
        """About how many rows it has; 0 for a spreadsheet, which is not unpacked for it."""
        if self.layout:
            raw = b64decode(self.content)
            return 0 if tables.is_sheet(raw) else raw.count(b"\n")
        if self.account in LAYOUTS:
            return files.rows_in(self.content)
        return max(self.content.count("Ntry>") // 2, self.content.count("\n:61:"))

    def report(
        self,
        name: str,
        since: datetime | None,
        until: datetime | None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> SettlementReport:
        """Return the report in it, which covers a time as `runs.report_of` says; raise BadReport."""
        own = OwnBankAccount.objects.filter(name=self.account).first()
        if self.layout is None and own:
            found = runs.bank_report(bank_files.parse(self.content, own, progress), own, name)
        elif self.layout is None:
            fixed = LAYOUTS[self.account]
            found = runs.report_of(files.parse(self.content, fixed, progress), fixed, since, until, name)
        else:
            raw, reader = b64decode(self.content), reader_of(self.account, self.layout.settings)
            if isinstance(reader, AnyStatement):
                found = runs.bank_report([readers.statement_of(raw, reader, progress)], reader.account, name)
            else:
                found = runs.report_of(readers.lines_of(raw, reader, progress), reader, since, until, name)
        return replace(found, layout=self.layout)


def accounts() -> list[str]:
    """Return the names of those whose files are read: providers, and our bank accounts."""
    return [*PROVIDER_NAMES, *OwnBankAccount.objects.order_by("name").values_list("name", flat=True)]


def in_force(account: str) -> FileLayout | None:
    """Return the newest version of an account's layout."""
    return FileLayout.objects.filter(provider=account).order_by("version").last()


def reader_of(account: str, settings: Mapping[str, Any]) -> AnyReport:
    """Return what reads an account's files by the `settings` of a layout."""
    columns = ColumnLayout.from_json(settings)
    own = OwnBankAccount.objects.filter(name=account).first()
    return AnyStatement(account, columns, own) if own else AnyReport(account, columns)


@transaction.atomic
def add(account: str, version: int, layout: ColumnLayout, request_id: UUID) -> FileLayout:
    """Put the next `version` of an account's layout in force; raise Overtaken, ValueError where it reads no file."""
    if account not in accounts():
        raise ValueError("There is no account of this name.")
    layout.check(is_bank=account not in PROVIDER_NAMES)
    newest = in_force(account)
    if version != (newest.version if newest else 0) + 1:
        raise Overtaken("Another version came since this was requested.")
    made = FileLayout.objects.create(
        request_id=request_id, provider=account, version=version, settings=layout.as_json()
    )
    audit_log.record(Action.ADDED, made, detail=f"{made}: {', '.join(map(': '.join, layout.facts()))}")
    return made


def take(raw: bytes, account: str, most: int = files.MAX_BYTES) -> TakenFile:
    """Return what reads a file of an account, which may be at most `most` bytes large; raise BadReport."""
    if len(raw) > most:
        raise BadReport(f"it is larger than {most // 1024**2} MiB; split it by days")
    own = OwnBankAccount.objects.filter(name=account).first()
    layout, fault = in_force(account), ""
    try:
        if own or account in LAYOUTS:
            return TakenFile(account, _in_known_format(raw, account, own), None)
    except BadReport as refusal:
        fault = f"{refusal}; "
    if layout is None:
        raise BadReport(fault + NO_LAYOUT.format(account=account))
    try:
        readers.check(raw, reader_of(account, layout.settings))
    except BadReport as refusal:
        raise BadReport(f"{refusal} (by the layout {layout})") from None
    return TakenFile(account, b64encode(raw).decode(), layout)


def _in_known_format(raw: bytes, account: str, own: OwnBankAccount | None) -> str:
    """Return the text of a file in the format of its provider or of banks; raise BadReport for another file."""
    if own:
        return bank_files.checked(raw)
    text = files.decode(raw)
    files.check_head(text, LAYOUTS[account])
    return text
