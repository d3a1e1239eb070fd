"""What a history has done: each kind and state that it wrote, event that it made and call that changed something."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Model
from django.http import HttpResponse

from payments.api.schema.document import document
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.invariants.invariant import TABLES
from payments.invariants.registry import INVARIANTS
from payments.models import Event
from tests.client import Api

# Tables that invariants read and whose kinds and states are no money of their own, each with where they have histories.
ELSEWHERE = {
    "payments_accountday": "copies the kinds of postings, day by day: tests/ledger",
    "payments_reportline": "says what a provider reports: tests/reconciliation",
    "payments_reconciliationitem": "says what differs from it: tests/reconciliation",
    "payments_webhook": "reports money that has moved already: tests/webhooks",
    "payments_payermessage": "says to a payer what has happened already: tests/messages",
}
# Kinds and states of the other tables that no history in test mode has.
ELSEWHERE_ALONE = {
    "ApprovalRequest.kind=record_payout": "ends a live payout: tests/machine/bank_files.py",
    "ApprovalRequest.kind=pay_out": "lets a live payout go out: tests/machine/bank_files.py",
    "ApprovalRequest.kind=send_file": "lets a bank file go out: tests/machine/bank_files.py",
    **{
        f"Merchant.kept_bodies={which}": "says what the log of requests keeps: tests/web/test_kept_bodies.py"
        for which in ("both", "test")
    },
    "Card.cvc_checked=unavailable": "is no answer of the simulator: tests/providers",
    **{
        f"ApprovalRequest.kind={kind}": "says who may do what and moves no money: tests/approvals, tests/merchants"
        for kind in (
            *("issue_key", "roll_key", "raise_limit", "move_customers"),
            *("add_account", "change_account", "add_route", "change_route", "file_layout"),
        )
    },
}
RECORDER = """
CREATE TABLE seen (kind text PRIMARY KEY);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    FOR number IN 1 .. TG_NARGS - 1 LOOP
        INSERT INTO seen VALUES (TG_ARGV[0] || '.' || TG_ARGV[number] || '=' || (to_jsonb(NEW) ->> TG_ARGV[number]))
        ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN NULL;
END $$
"""


def watch() -> None:
    """Have the database note each kind and state that is written until the transaction is rolled back.

    Its rows alone would not show what has gone on to another state.
    """
    with connection.cursor() as cursor:
        cursor.execute(RECORDER)
        for model, names in _choices():
            arguments = ", ".join(f"'{name}'" for name in (model.__name__, *names))
            cursor.execute(f"""
                CREATE TRIGGER see AFTER INSERT OR UPDATE ON {model._meta.db_table}
                FOR EACH ROW EXECUTE FUNCTION see({arguments})
            """)


def unseen_kinds() -> set[str]:
    """Return the kinds and states, of each table that an invariant reads, that were not written since `watch`."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT kind FROM seen")
        seen = {kind for (kind,) in cursor.fetchall()}
    return {
        kind
        for model, names in _choices()
        for name in names
        for value, _label in model._meta.get_field(name).flatchoices
        if (kind := f"{model.__name__}.{name}={value}") not in seen | ELSEWHERE_ALONE.keys()
    }


def unseen_events() -> set[str]:
    """Return the types of events that were not made."""
    return set(EVENT_TYPES) - set(Event.objects.values_list("type", flat=True))


class WatchedApi(Api):
    """The API, which notes the calls that changed something."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.changed: set[tuple[str, str]] = set()

    def send(self, method: str, path: str, *others: Any) -> HttpResponse:
        response = super().send(method, path, *others)
        if response.status_code < 300:
            self.changed.add((method.lower(), f"/v2{path.rstrip('/')}"))
        return response

    def unseen_verbs(self) -> set[str]:
        """Return the calls of the API that change something and were not made."""
        return {
            f"{method} {path}"
            for path, calls in json.loads(document())["paths"].items()
            for method in calls.keys() & {"post", "put", "patch", "delete"}
            if not any(method == done and re.fullmatch(_form(path), called) for done, called in self.changed)
        }


def _form(path: str) -> str:
    return re.sub(r"{\w+}", "[^/]+", path.rstrip("/"))


def _choices() -> Iterator[tuple[type[Model], list[str]]]:
    """Yield each model that an invariant reads, with its fields that have choices."""
    queries = " ".join(invariant.query for invariant in INVARIANTS)
    read = {*TABLES.values(), *re.findall(r"\w+", queries)} - ELSEWHERE.keys()
    for model in apps.get_models():
        names = [field.name for field in model._meta.concrete_fields if field.choices]
        if names and model._meta.db_table in read and not model._meta.proxy:
            yield model, names
