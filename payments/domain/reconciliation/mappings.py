"""How each provider writes its settlement report as CSV."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo

from payments.providers.base import Movement


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
    """How the lines of one provider's file are read.

    `kinds` has the provider's word for each movement. Amounts are decimal text (`18.89`), or whole numbers of the
    smallest unit with `minor_units`; with `signed` they carry the sign of their kind, otherwise none.
    `booked_format` is for `strptime`; where it names no zone, times are in `zone`, whose days the report has.
    """

    provider: str
    columns: Columns
    kinds: Mapping[str, Movement]
    booked_format: str
    minor_units: bool = False
    signed: bool = False
    zone: tzinfo = UTC


MAPPINGS: Mapping[str, CsvMapping] = {
    "simulator": CsvMapping(
        provider="simulator",
        columns=Columns(
            reference="reference",
            provider_ref="simulator_reference",
            kind="type",
            amount="amount",
            currency="currency",
            booked_at="booked_at",
        ),
        kinds={kind.value: kind for kind in Movement},
        booked_format="%Y-%m-%dT%H:%M:%S.%f%z",
    ),
}
