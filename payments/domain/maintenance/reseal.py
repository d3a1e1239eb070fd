"""All columns with sealed values, which are sealed again with a new data key while requests read and change them."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from uuid import UUID

from django.db import connection, models
from django.db.models import BinaryField, QuerySet
from django.db.models.functions import Substr

from payments import vault
from payments.db.scoped_queryset import FIRST_ID
from payments.models import (
    ApprovalRequest,
    Card,
    DataKey,
    Evidence,
    PayoutAccount,
    PayoutFile,
    ProviderAccount,
    ReportUpload,
    SentFile,
    WebhookSecret,
)
from payments.vault import Place, Purpose, VaultError

logger = logging.getLogger("kaha.vault")

BATCH = 500
# Of files, because a batch is in memory.
FILES_BATCH = 4
# One sweep of the worker does so many batches; the command has done the bulk before.
BATCHES = 20

# This waits for no locked row, so nobody waits for it in turn. A row that was changed meanwhile keeps its change.
RESEAL = """
WITH fresh AS (SELECT * FROM unnest(%s::uuid[], %s::bytea[], %s::bytea[]) AS fresh (id, before, after)),
free AS (SELECT t.id FROM {table} t JOIN fresh USING (id) FOR NO KEY UPDATE OF t SKIP LOCKED)
UPDATE {table} t SET {column} = fresh.after FROM fresh JOIN free USING (id)
WHERE t.id = fresh.id AND t.{column} = fresh.before
"""

# A row's ID, its value as it was read, and the same value sealed with the current key.
Fresh = tuple[UUID, bytes, bytes]


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed values; `label` names them for operators, `merchant` is the lookup of their merchant's ID."""

    label: str
    model: type[models.Model]
    column: str
    purpose: Purpose
    field: str
    merchant: str
    batch: int = BATCH

    def rows(self) -> QuerySet[models.Model]:
        """Return the rows, each with the header of its sealed value as `start`."""
        return self.model._default_manager.annotate(start=Substr(self.column, 1, 17, output_field=BinaryField()))


COLUMNS = (
    SealedColumn("card numbers", Card, "sealed_number", Purpose.CARD, "number", "source__merchant_id"),
    SealedColumn("CVCs", Card, "sealed_cvc", Purpose.CVC, "cvc", "source__merchant_id"),
    SealedColumn("webhook secrets", WebhookSecret, "sealed", Purpose.SECRET, "webhook_secret", "merchant_id"),
    SealedColumn(
        "provider credentials",
        ProviderAccount,
        "sealed_credentials",
        Purpose.SECRET,
        "provider_credentials",
        "merchant_id",
    ),
    SealedColumn(
        "requested credentials",
        ApprovalRequest,
        "sealed_credentials",
        Purpose.SECRET,
        "requested_credentials",
        "merchant_id",
    ),
    SealedColumn("numbers of bank accounts", PayoutAccount, "sealed_number", Purpose.SECRET, "number", "merchant_id"),
    SealedColumn("evidence", Evidence, "sealed_content", Purpose.SECRET, "evidence", "merchant_id", FILES_BATCH),
    # A report is of no merchant, so its own ID stands for one.
    SealedColumn("uploaded reports", ReportUpload, "sealed_content", Purpose.SECRET, "report", "id", FILES_BATCH),
    # Likewise a bank file, and a file of a list that an operator sees.
    SealedColumn("scheduled files", SentFile, "sealed_content", Purpose.SECRET, "sent_file", "id", FILES_BATCH),
    SealedColumn(
        "accounts that bank files debit", PayoutFile, "sealed_debtor_number", Purpose.SECRET, "debtor_number", "id"
    ),
)


def stale(column: SealedColumn) -> QuerySet[models.Model]:
    """Return the rows whose value is sealed with a retired data key."""
    retired = DataKey.objects.filter(purpose=column.purpose, retired_at__isnull=False, destroyed_at__isnull=True)
    headers = [vault.header_of(key_id) for key_id in retired.values_list("id", flat=True)]
    return column.rows().filter(start__in=headers)


def is_any_sealed_with(key: DataKey) -> bool:
    """Return whether any stored value is sealed with this key."""
    columns = [column for column in COLUMNS if column.purpose == key.purpose]
    return any(column.rows().filter(start=vault.header_of(key.id)).exists() for column in columns)


def reseal(column: SealedColumn, batch: int | None = None) -> Iterator[int]:
    """Seal the values of the stale rows with the current data key, in one pass.

    Yields the number of rows in each batch. Locked rows, and rows that an interrupted pass did not reach, are left to
    the next pass. Raises VaultUnavailable.
    """
    rows = stale(column).order_by("id").values_list("id", column.merchant, column.column)
    last = FIRST_ID
    while found := list(rows.filter(id__gt=last)[: batch or column.batch]):
        last = found[-1][0]
        if values := [fresh for row in found if (fresh := _resealed(column, *row))]:
            statement = RESEAL.format(table=column.model._meta.db_table, column=column.column)
            with connection.cursor() as cursor:
                cursor.execute(statement, [list(each) for each in zip(*values, strict=True)])
        yield len(found)


def reseal_some(batches: int = BATCHES) -> int:
    """Reseal at most so many batches of stale rows; return how many rows. Raises VaultUnavailable."""
    return sum(islice(chain.from_iterable(map(reseal, COLUMNS)), batches))


def _resealed(column: SealedColumn, row_id: UUID, merchant_id: UUID, sealed: bytes | memoryview) -> Fresh | None:
    place = Place(column.purpose, merchant_id, row_id, column.field)
    # A damaged value must not keep the others under an old key; only its own key is then never destroyed.
    try:
        return row_id, bytes(sealed), vault.seal(vault.unseal(sealed, place), place)
    except VaultError:
        logger.exception("a sealed value cannot be opened", extra={"field": column.field, "row": row_id.hex})
        return None
