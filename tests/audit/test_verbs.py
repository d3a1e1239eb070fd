"""Every act that an operator or a command can do is recorded where it is done: in the domain, not on a page."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CALLERS = ("payments/admin", "payments/management", "payments/staff", "customers/admin.py")
DOMAIN = ("payments.domain", "customers.domain")
RECORDS = {"payments.domain.audit.audit_log.record", "payments.domain.audit.audit_log.record_all"}
# What pages and commands call that changes nothing, or nothing but a place in a queue.
READS = {
    *("checkout.collect.can_try", "reconciliation.bank.line_matcher.key_of"),
    *("approvals.kinds.routing.describe_account", "approvals.kinds.routing.describe_route"),
    *("approvals.kinds.charge_actions.fill_in", "charging.checkouts.link_stock.with_under_way"),
    *("approvals.kinds.corrections.proposed_outcome", "approvals.verbs.plan_of", "approvals.limits.parse_rules"),
    *("approvals.kinds.payouts.describe_schedule", "approvals.limits.account_change_needs_approval"),
    *("approvals.limits.key_needs_approval", "approvals.limits.limit_of", "audit.audit_log.change"),
    *("due_rows.next_lookup_at", "payouts.schedules.next_run_at"),
    *("audit.hash_chain.count", "audit.hash_chain.verified_hashes"),
    *("bulkheads.take_download_place", "cards.bin_file.read", "charging.operations.extension_days"),
    *("checkout.payments.description_of", "checkout.requests.is_open", "messages.kinds.label_of"),
    *("messages.spoken.spoken", "messages.example.example_of", "messages.delivery.send_at_once"),
    *("disputes.evidence.of_dispute", "maintenance.data_keys.all_wrapped_keys"),
    *("maintenance.key_rotation.retired", "maintenance.reseal.stale", "merchants.api_keys.find_key"),
    *("merchants.merchants.find_merchant", "merchants.merchants.valid_webhook_secrets"),
    *("merchants.terms.is_enabled", "merchants.terms.rates_of_fees"),
    *("operators.cases.case_of", "operators.cases.possible_assignees"),
    *("operators.receipts.address_of", "operators.duplicates.duplicates_of", "operators.duplicates.same_card"),
    *("payouts.accounts.checked", "payouts.accounts.checked_number", "approvals.kinds.payouts.outcomes_of"),
    *("approvals.payouts.approvable", "approvals.payouts.requests_of", "payouts.files.summary"),
    *("payouts.files.waiting", "payouts.make.payable"),
    *("payouts.make.payables", "payouts.schedules.account_in_effect", "approvals.limits.schedule_needs_approval"),
    *("payouts.terms.schedule_of", "reconciliation.files.write", "reconciliation.file_layouts.take"),
    *("reconciliation.bank.balances.breaks", "reconciliation.bank.balances.late"),
    *("reconciliation.bank.balances.standing_of", "reconciliation.bank.balances.statements_of"),
    *("reconciliation.bank.line_matcher.what_is", "reconciliation.bank.reasons.in_words"),
    *("reconciliation.file_layouts.reader_of", "reconciliation.columns.readers.named_as"),
    *("reconciliation.columns.examples.sample_of", "reconciliation.columns.examples.preview"),
    *("reconciliation.columns.proposal.propose", "reconciliation.columns.layout.folded"),
    *("reconciliation.files.content", "reconciliation.file_layouts.accounts", "reconciliation.file_layouts.in_force"),
    *("reconciliation.runs.provider_lines", "reconciliation.runs.provider_report", "reconciliation.summary.parts_of"),
    *("risk.addresses.counted", "risk.blocks.card_columns", "risk.blocks.emails_of"),
    *("risk.blocks.number_columns", "routing.route_health.health_of", "routing.route_health.recent_attempts"),
    *("statements.csv_file.statement_lines", "statements.csv_file.trial_lines"),
    *("statements.pdf_file.letterhead", "statements.summary.summary_of"),
    *("statements.pdf_file.statement_pdf", "statements.statement.month_of", "statements.statement.next_month"),
    *("statements.statement.statement_of", "statements.trial_balance.trial_balance"),
    *("maintenance.test_clock.webhooks_due",),
    *("sources.find", "merchants.assistants.caller_of", "customers.domain.checkout.find"),
    *("customers.domain.imported.sealed", "approvals.kinds.merchants.require_approved"),
    *("shared.charge_story.writes_charge_story", "catalogue.refusal_texts.translated"),
    *("transparency.export.lines", "transparency.proofs.with_leaves"),
    *("webhooks.receiver_check.check", "webhooks.resend.matching", "webhooks.test_event.result_text"),
}
# What the worker does by itself at the same moment or soon, which a command only does now.
OF_THE_WORKER = {
    *("maintenance.key_rotation.finish", "maintenance.key_rotation.rewrap_data_keys", "maintenance.reseal.reseal"),
    "maintenance.test_clock.advance",
}
# What only makes the event of a change that the form of the framework records.
EVENTS_ONLY = {"audit.notices.notify_merchant"}
# What pages themselves record: reading, and the forms of the framework, which save rows of no verb.
ON_PAGES = {"VIEWED", "SEARCHED", "EXPORTED"}
FORMS = "payments/admin/framework/change_audit.py"


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def files_of(place: str) -> Iterator[Path]:
    path = ROOT / place
    yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def file_of(module: str) -> Path:
    return ROOT / f"{module.replace('.', '/')}.py"


@cache
def names_of(path: Path) -> dict[str, str]:
    """Return what the imports of a file bind that is of the domain, by its name there."""
    found = {}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(DOMAIN):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def used_in(node: ast.AST, names: dict[str, str]) -> set[str]:
    """Return the functions and methods of the domain that a piece of code names."""
    used = {names[each.id] for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in names}
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in names:
            used.add(f"{names[each.value.id]}.{each.attr}")
    return used


@cache
def functions_of(module: str) -> dict[str, set[str]]:
    """Return what each function of a module of the domain uses."""
    tree = tree_of(file_of(module))
    own = {node.name: f"{module}.{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = names_of(file_of(module)) | own
    return {own[node.name]: used_in(node, names) for node in tree.body if isinstance(node, ast.FunctionDef)}


def verbs() -> set[str]:
    """Return the functions of the domain that a page or a command calls."""
    found: set[str] = set()
    for path in (path for place in CALLERS for path in files_of(place)):
        found |= used_in(tree_of(path), names_of(path))
    return {name for name in found - RECORDS if file_of(module_of(name)).is_file() and is_function(name)}


def module_of(name: str) -> str:
    return name.rpartition(".")[0]


def is_function(name: str) -> bool:
    return name in functions_of(module_of(name))


def records(name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether a function, or one that it calls, adds to the audit log."""
    if name in RECORDS:
        return True
    if name in seen or not file_of(module_of(name)).is_file() or not is_function(name):
        return False
    return any(records(used, seen | {name}) for used in functions_of(module_of(name))[name])


def short(name: str) -> str:
    return name.removeprefix("payments.domain.")


@pytest.mark.long
def test_every_verb_of_operators_and_commands_records_what_it_does() -> None:
    silent = {short(name) for name in verbs() if not records(name)}
    assert silent - READS - OF_THE_WORKER - EVENTS_ONLY == set()


@pytest.mark.long
def test_what_is_declared_to_change_nothing_is_there_and_records_nothing() -> None:
    assert {short(name) for name in verbs()} >= READS | OF_THE_WORKER
    assert not {name for name in READS if records(f"payments.domain.{name}")}


@pytest.mark.parametrize("place", ["payments/admin", "customers/admin.py"])
def test_pages_record_only_what_was_read(place: str) -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), argument.attr)
        for path in files_of(place)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and used_in(node.func, names_of(path)) & RECORDS
        for argument in node.args[:1]
        if isinstance(argument, ast.Attribute)
    }
    assert {entry for entry in found if entry[1] not in ON_PAGES and entry[0] != FORMS} == set()


SCRIPT = """
import os, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()
from django.contrib.auth.models import User
from django.db.models import signals
from payments.models import MerchantAccess
print(signals.{signal}.has_listeners({model}))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("signal", "model"),
    [
        ("pre_save", "User"),
        ("post_save", "MerchantAccess"),
        ("post_delete", "MerchantAccess"),
        ("m2m_changed", "User.groups.through"),
    ],
)
def test_every_process_that_starts_the_apps_records_changes_of_accounts(signal: str, model: str) -> None:
    command = [sys.executable, "-c", SCRIPT.format(signal=signal, model=model)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "True\n"
