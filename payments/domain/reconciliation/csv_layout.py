"""Layouts of settlement reports, and the mapping for CSV files with one word and one amount in each line."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, tzinfo
from typing import Protocol

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.cells import Row
from payments.providers.settlement_reports import Movement, SettlementLine

EXAMPLE = datetime(2026, 11, 21, 13, 30, 59, 123456, UTC)


class Layout(Protocol):
    """The layout of one provider's report.

    `names` are the headers of the required columns. Days are those of `zone`. With `covers_days` a report is complete
    for the days from its first line to its last; otherwise it is complete for no period.
    """

    @property
    def provider(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def zone(self) -> tzinfo: ...
    @property
    def covers_days(self) -> bool: ...

    def line(self, row: Row) -> SettlementLine | None:
        """Return the line in a row; None for a row of no payment. Raises ValueError with the column and the fault."""


@dataclass(frozen=True)
class Columns:
    """The header of the column that holds each member of a `SettlementLine`."""

    reference: str
    provider_ref: str
    kind: str
    amount: str
    currency: str
    booked_at: str


@dataclass(frozen=True)
class CsvMapping:
    """The layout of one provider's CSV file.

    `kinds` has the provider's word for each movement. Amounts are decimal text (`18.89`), or whole numbers of the
    smallest unit with `minor_units`; with `signed` they carry the sign of their kind, otherwise none.
    `booked_format` is for `strptime`; where it names no zone, times are in `zone`.
    """

    provider: str
    columns: Columns
    kinds: Mapping[str, Movement]
    booked_format: str
    minor_units: bool = False
    signed: bool = False
    zone: tzinfo = UTC
    covers_days: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return astuple(self.columns)

    def line(self, row: Row) -> SettlementLine:
        columns = self.columns
        kind = row.read(columns.kind, self._kind)
        currency = row.read(columns.currency, cells.read_currency)
        return SettlementLine(
            reference=row.read(columns.reference, cells.read_reference),
            provider_ref=row.read(columns.provider_ref, cells.read_reference),
            kind=kind,
            amount=row.read(columns.amount, lambda text: self._amount(text, kind, currency)),
            currency=currency,
            booked_at=row.read(columns.booked_at, self._moment),
        )

    def written(self, line: SettlementLine) -> list[str]:
        """Return the cells of a line, in the order of the columns, as `line` reads them."""
        word = next(word for word, kind in self.kinds.items() if kind is line.kind)
        decimals = 0 if self.minor_units else cells.decimals_of(line.currency)
        amount = self._sign(line.kind) + cells.write_amount(abs(line.amount), decimals)
        return [line.reference, line.provider_ref, word, amount, line.currency, self._written_moment(line.booked_at)]

    def _kind(self, text: str) -> Movement:
        try:
            return self.kinds[text]
        except KeyError:
            raise ValueError(f"must be one of {', '.join(self.kinds)}") from None

    def _amount(self, text: str, kind: Movement, currency: str) -> int:
        sign, amount = cells.read_signed(text, currency, minor_units=self.minor_units)
        if sign != self._sign(kind) and (sign, kind.sign) != ("+", 1):
            raise ValueError(f"has the wrong sign for a {kind}")
        return kind.sign * amount

    def _sign(self, kind: Movement) -> str:
        return "-" if self.signed and kind.sign < 0 else ""

    def _moment(self, text: str) -> datetime:
        try:
            moment = datetime.strptime(text, self.booked_format)  # noqa: DTZ007  the mapping has the zone
        except ValueError:
            raise ValueError(f"must be a time such as {self._written_moment(EXAMPLE)}") from None
        return moment if moment.tzinfo else moment.replace(tzinfo=self.zone)

    def _written_moment(self, moment: datetime) -> str:
        return moment.astimezone(self.zone).strftime(self.booked_format)


SIMULATOR = CsvMapping(
    provider="simulator",
    columns=Columns(
        reference="reference",
        provider_ref="simulator_reference",
        kind="type",
        amount="amount",
        currency="currency",
        booked_at="booked_at",
    ),
    kinds={kind.value: kind for kind in Movement if kind is not Movement.OTHER},
    booked_format="%Y-%m-%dT%H:%M:%S.%f%z",
)
# By provider, the layouts in which a report can also be written.
MAPPINGS: Mapping[str, CsvMapping] = {SIMULATOR.provider: SIMULATOR}
