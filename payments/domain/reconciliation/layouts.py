"""The layouts of settlement reports, and the simulator's own, in which a report can also be written."""

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Protocol

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.adyen import SettlementDetails
from payments.domain.reconciliation.cells import ReportRow
from payments.domain.reconciliation.xendit import BalanceReport
from payments.providers.settlement_reports import Movement, SettlementLine

FORMAT = "%Y-%m-%dT%H:%M:%S.%f%z"
KINDS = {kind.value: kind for kind in Movement if kind.sign}


class Layout(Protocol):
    """The layout of one provider's report, which the provider calls by `title`.

    `names` are the headers of the required columns. Days are those of `zone`. With `covers_days` a report is complete
    for the days from its first line to its last; otherwise it is complete for no period.
    """

    @property
    def provider(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def zone(self) -> tzinfo: ...
    @property
    def covers_days(self) -> bool: ...

    def names_in(self, row: ReportRow) -> tuple[str, str]:
        """Return our reference of the payment or operation in a row, and the provider's. Raises ValueError."""

    def line(self, row: ReportRow) -> SettlementLine | None:
        """Return the line in a row; None where it belongs to no payment or moves nothing.

        Raises ValueError with the column and the fault.
        """


class SimulatorReport:
    """The layout of the simulator's report: amounts are decimal text without a sign, such as `18.89`."""

    provider, title = "simulator", "settlement report"
    names = ("reference", "simulator_reference", "type", "amount", "currency", "booked_at")
    zone: tzinfo = UTC
    covers_days = True

    def names_in(self, row: ReportRow) -> tuple[str, str]:
        return row.read("reference", cells.read_reference), row.read("simulator_reference", cells.read_reference)

    def line(self, row: ReportRow) -> SettlementLine | None:
        kind = row.read("type", _kind)
        currency = row.read("currency", cells.read_currency)
        amount = row.read("amount", lambda text: _amount(text, kind, currency))
        booked_at = row.read("booked_at", _moment)
        return SettlementLine(*self.names_in(row), kind, amount, currency, booked_at) if amount else None

    def written(self, line: SettlementLine) -> list[str]:
        """Return the cells of a line, in the order of `names`, as `line` reads them."""
        amount = cells.write_amount(abs(line.amount), line.currency)
        booked = line.booked_at.astimezone(UTC).strftime(FORMAT) if line.booked_at else ""
        return [line.reference, line.provider_ref, line.kind, amount, line.currency, booked]


def _kind(text: str) -> Movement:
    if text not in KINDS:
        raise ValueError(f"must be one of {', '.join(KINDS)}")
    return KINDS[text]


def _amount(text: str, kind: Movement, currency: str) -> int:
    sign, amount = cells.read_signed(text, currency)
    if sign and (sign, kind.sign) != ("+", 1):
        raise ValueError(f"has the wrong sign for a {kind}")
    return kind.sign * amount


def _moment(text: str) -> datetime:
    def parse(text: str) -> datetime:
        return datetime.strptime(text, FORMAT)  # noqa: DTZ007  the format has the zone

    return cells.read_moment(text, parse, "2026-11-21T13:30:59.123456+0000")


# By provider, the layouts in which a report can also be written, and all that can be read.
MAPPINGS: Mapping[str, SimulatorReport] = {SimulatorReport.provider: SimulatorReport()}
ALL: tuple[Layout, ...] = (*MAPPINGS.values(), SettlementDetails(), BalanceReport())
LAYOUTS: Mapping[str, Layout] = {layout.provider: layout for layout in ALL}
