"""What each table is to an engine that shards by merchant: of merchants, a reference, or of the cell.

A table is of merchants if each of its rows names one: `merchant_id`, NOT NULL. The others are named here, and so are
the tables that name a merchant and are all the same no part of what is sharded.
"""

from enum import StrEnum

from django.db import connection

OWNER = "merchant_id"


class Kind(StrEnum):
    """Where an engine that shards keeps a table's rows."""

    MERCHANTS = "of merchants"  # on the server of each row's merchant, beside all else of that merchant
    REFERENCE = "reference"  # a copy on each server
    CELL = "of the cell"  # on the coordinator alone


# Small, seldom changed, and read beside rows of merchants; or found before anybody knows whose request it is.
REFERENCE = {
    "auth_user": "operators, whom rows of merchants name",
    "payments_apikey": "found by its digest, before the merchant is known",
    "payments_binrange": "read for each card",
    "payments_block": "may hold for all merchants",
    "payments_brandpicture": "found by its address, before the merchant is known",
    "payments_merchant": "read with each key",
    "payments_payoutfile": "holds payouts of many merchants",
    "payments_provideraccount": "found by the address that a provider calls",
    "payments_route": "read for each live charge",
    "payments_webhookendpoint": "read with each key",
}
# Of the whole installation, or about several merchants at once.
CELL = {
    "payments_approvallimit": "of roles",
    "payments_auditentry": "one chain of all operators",
    "payments_audithead": "one chain of all operators",
    "payments_bankline": "may belong to no merchant",
    "payments_bankstatement": "of our own account",
    "payments_case": "may be about what belongs to no merchant",
    "payments_cvckey": "one for all merchants, ten minutes each",
    "payments_datakey": "some for all merchants",
    "payments_filelayout": "of a provider's or our own accounts",
    "payments_fileschedule": "of operators, and of merchants' people",
    "payments_feetemplate": "given to any merchant",
    "payments_ledgerday": "of all merchants",
    "payments_loghead": "of one log of all merchants",
    "payments_lognode": "of one log of all merchants",
    "payments_logprogress": "one row",
    "payments_merchantaccess": "of operators",
    "payments_moneycheck": "of all merchants",
    "payments_note": "of a case",
    "payments_notification": "of operators",
    "payments_notificationchoice": "of operators",
    "payments_ownbankaccount": "of ourselves",
    "payments_reconciliationitem": "may belong to no merchant",
    "payments_reconciliationrun": "a provider's report covers many merchants",
    "payments_reportline": "may belong to no merchant",
    "payments_reportupload": "a provider's report covers many merchants",
    "payments_savedview": "of operators",
    "payments_searchprogress": "one row",
    "payments_sentfile": "of operators, and of merchants' people",
    "payments_summedday": "of all merchants",
    "payments_sweep": "the workers' schedule",
    "payments_workerprocess": "the workers themselves",
}
# Of merchants, but for rows that name none, which the sharding guide lists.
MOSTLY_OF_MERCHANTS = {"payments_approvalrequest": "a bank file is of none"}
# Of Django, of sign-ins, and of the simulator, which stands for a provider: it knows references and no merchants.
OURS = ("payments_", "customers_")

TABLES = """
SELECT c.relname, coalesce(owner.attnotnull, false)
FROM pg_class c LEFT JOIN pg_attribute owner ON owner.attrelid = c.oid AND owner.attname = %s
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname
"""


def kinds() -> dict[str, Kind | None]:
    """Return the kind of each table of the database; None for one that nobody has decided about."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES, [OWNER])
        return {table: _kind(table, names_merchant) for table, names_merchant in cursor.fetchall()}


def tables_of(kind: Kind) -> list[str]:
    """Return the names of the tables of one kind, in order."""
    return [table for table, its in kinds().items() if its is kind]


def _kind(table: str, names_merchant: bool) -> Kind | None:
    if table in REFERENCE:
        return Kind.REFERENCE
    if table in CELL or not table.startswith(OURS):
        return Kind.CELL
    return Kind.MERCHANTS if names_merchant or table in MOSTLY_OF_MERCHANTS else None
