"""What each role may open and do, made from the admin's own list of addresses: a new one has to say whose it is."""

from contextlib import suppress
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, reverse

from payments.staff.roles import MONTH_END, ROLES, make_roles
from tests.admin.conftest import House, house  # noqa: F401  something to be looked at
from tests.admin.test_pages import newest  # noqa: F401
from tests.client import signed_in
from tests.staff.all_merchants import for_all

pytestmark = pytest.mark.long

EVERYBODY = frozenset(ROLES)
OF_SCHEDULES = ["change", "history", "csv", "download", "send_now", "pause", "resume", "delete_schedule"]
SUPPORT, FINANCE, ADMINISTRATOR = {"support", "finance"}, {"finance"}, {"administrator"}
NOBODY = frozenset[str]()
BOTH = FINANCE | ADMINISTRATOR

# Whose the acts are, and the pages that are more than looked at. Other pages of rows are everybody's to look at.
WHOSE: dict[str, Any] = {
    "payments_unknownoutcome_look_up": SUPPORT,
    "payments_unknownoutcome_propose": FINANCE,
    "payments_correction_decide": FINANCE,
    "payments_reconciliationitem_close": BOTH,
    "payments_reconciliationitem_reopen": BOTH,
    "payments_reconciliationitem_confirm": BOTH,
    "payments_reconciliationitem_mark_returned": FINANCE,
    "payments_ownbankaccount_add": BOTH,
    "payments_reportupload_upload": BOTH,
    "payments_filelayout_make": BOTH,
    "payments_statement_download": BOTH,
    "payments_ledgerday_download": BOTH,
    "payments_ledgerday_at": EVERYBODY,
    "payments_account_month": EVERYBODY,
    "payments_account_day": EVERYBODY,
    "payments_payermessage_preview": EVERYBODY,
    "payments_payermessage_preview_mail": EVERYBODY,
    "payments_providermessage_close": FINANCE,
    # Of whom it is of.
    **{f"payments_fileschedule_{act}": NOBODY for act in OF_SCHEDULES},
    "payments_webhook_send_again": SUPPORT,
    "payments_charge_send_webhooks_again": SUPPORT,
    "payments_charge_send_receipt": SUPPORT,
    **{f"payments_{name}_case": SUPPORT | ADMINISTRATOR for name in ("charge", "attempt", "unknownoutcome")},
    "payments_reconciliationitem_case": SUPPORT | ADMINISTRATOR,
    "payments_declinealert_acknowledge": SUPPORT,
    "payments_block_add": FINANCE,
    "payments_source_block": FINANCE,
    "payments_declinealert_block": FINANCE,
    "payments_block_lift": FINANCE,
    "payments_dispute_add_evidence": SUPPORT,
    "payments_dispute_submit_evidence": SUPPORT,
    "payments_dispute_accept": FINANCE,
    "payments_payout_approve": FINANCE,
    "payments_payout_cancel": FINANCE,
    "payments_payout_record": FINANCE,
    "payments_payoutschedule_pay_out": FINANCE,
    "payments_payoutschedule_change_schedule": ADMINISTRATOR,
    "payments_payoutaccount_withdraw": SUPPORT | ADMINISTRATOR,
    "payments_merchant_set_payout_account": ADMINISTRATOR,
    "payments_merchant_set_payout_schedule": ADMINISTRATOR,
    **{f"payments_payoutfile_{act}": FINANCE for act in ("add", "download", "mark_sent", "mark_paid", "cancel")},
    # It has a file of its own.
    "payments_auditentry_csv": NOBODY,
    "payments_auditentry_saveview": ADMINISTRATOR,
    "payments_charge_by_card": EVERYBODY,
    "payments_auditentry_changelist": ADMINISTRATOR,
    "payments_auditentry_change": ADMINISTRATOR,
    "payments_auditentry_history": ADMINISTRATOR,
    "payments_auditentry_export": ADMINISTRATOR,
    "payments_merchant_add": ADMINISTRATOR,
    "payments_merchant_issue_key": ADMINISTRATOR,
    "payments_merchant_invite_owner": ADMINISTRATOR,
    "payments_merchant_set_fees": ADMINISTRATOR,
    "payments_merchant_send_test_event": ADMINISTRATOR,
    "payments_merchant_add_endpoint": ADMINISTRATOR,
    **{
        f"payments_webhookendpoint_{name}_endpoint": ADMINISTRATOR
        for name in ("change", "test", "pause", "resume", "disable", "enable", "delete")
    },
    "payments_webhookendpoint_roll_secret": ADMINISTRATOR,
    "payments_merchant_set_payment_methods": ADMINISTRATOR,
    "payments_merchant_set_picture": ADMINISTRATOR,
    "payments_merchant_set_decline_budget": ADMINISTRATOR,
    "payments_merchant_move_customers": ADMINISTRATOR,
    "payments_merchant_roll_webhook_secret": ADMINISTRATOR,
    "payments_provideraccount_add": ADMINISTRATOR,
    "payments_provideraccount_change_account": ADMINISTRATOR,
    "payments_provideraccount_test_credentials": ADMINISTRATOR,
    "payments_provideraccount_add_route": ADMINISTRATOR,
    "payments_route_change_route": ADMINISTRATOR,
    "payments_apikey_roll": ADMINISTRATOR,
    "payments_apikey_revoke": ADMINISTRATOR,
    "payments_apikey_set_origins": ADMINISTRATOR,
    "customers_customer_detach_source": ADMINISTRATOR,
    "payments_charge_capture": FINANCE,
    "payments_charge_release": FINANCE,
    "payments_charge_extend": FINANCE,
    "payments_charge_void": FINANCE,
    "payments_charge_refund": SUPPORT,
    **{f"payments_checkout_{act}": SUPPORT for act in ("expire", "void", "resend", "stop_collecting")},
    "payments_checkout_try_now": FINANCE,
    **{f"payments_paymentlink_{act}": SUPPORT for act in ("activate", "deactivate")},
    "payments_operatoraction_decide": FINANCE,
    "payments_assistantcall_decide": FINANCE,
    "payments_approvalrequest_waiting": EVERYBODY,
    "payments_approvalrequest_decide": ADMINISTRATOR,
    "payments_approvalrequest_take": ADMINISTRATOR,
    "payments_approvallimit_add": ADMINISTRATOR,
    "payments_feetemplate_add": ADMINISTRATOR,
    "payments_feetemplate_delete": ADMINISTRATOR,
    "payments_binrange_add": ADMINISTRATOR,
    "payments_binrange_delete": ADMINISTRATOR,
    "auth_user_changelist": ADMINISTRATOR,
    "auth_user_change": ADMINISTRATOR,
    "auth_user_history": ADMINISTRATOR,
    "auth_user_add": ADMINISTRATOR,
    **{f"auth_user_{kind}": ADMINISTRATOR for kind in ("columns", "saveview")},
    "auth_user_csv": NOBODY,
    "auth_user_invite": ADMINISTRATOR,
    "auth_user_withdraw_invitation": ADMINISTRATOR,
    "auth_user_deactivate": ADMINISTRATOR,
    "auth_user_reactivate": ADMINISTRATOR,
    "on_call": EVERYBODY,
}
# What an address names beside a row.
PARTS: dict[str, list[str]] = {
    "payments_statement_download": ["2026-01", "test", "csv"],
    "payments_account_month": ["test", "PHP", "fees"],
    "payments_account_day": ["test", "PHP", "fees", "2026-01-01"],
}
# Actions without a page, and their parameters.
WITHOUT_PAGE: dict[str, dict[str, str]] = {
    "payments_unknownoutcome_look_up": {},
    **{f"payments_{name}_case": {} for name in ("charge", "attempt", "unknownoutcome", "reconciliationitem")},
    "payments_approvalrequest_take": {},
    "payments_payoutfile_download": {},
    **{f"payments_fileschedule_{act}": {} for act in ("send_now", "pause", "resume")},
}
BY_KIND = {"changelist": EVERYBODY, "change": EVERYBODY, "history": EVERYBODY, "add": NOBODY, "delete": NOBODY}
# What is done with a list. A view is deleted by its ID, which is not given here.
OF_A_LIST = {"csv": SUPPORT, "saveview": EVERYBODY, "columns": EVERYBODY, "dropview": NOBODY}
BY_KIND |= OF_A_LIST
# Pages of every signed-in user, whatever their role.
PERSONAL = {"index", "login", "logout", "password_change", "password_change_done", "autocomplete", "jsi18n", "app_list"}
PERSONAL |= {"find", "mode", "preferences", "invitation", "inbox", "notifications"}


def names_in(patterns: list[URLPattern | URLResolver]) -> list[str]:
    """Return the names of all addresses; those that only lead on to another have none."""
    found = [pattern.name for pattern in patterns if isinstance(pattern, URLPattern) and pattern.name]
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            found += names_in(pattern.url_patterns)
    return found


NAMES = sorted(set(names_in(admin.site.get_urls())) - PERSONAL)
WITHOUT_PAGE |= {name: {} for name in NAMES if name.rpartition("_")[2] in OF_A_LIST}


def whose(name: str) -> frozenset[str]:
    """Return the roles whose an address is; an error where that was never said."""
    return frozenset(WHOSE[name] if name in WHOSE else BY_KIND[name.rpartition("_")[2]])


@pytest.fixture
def rows(newest: dict[type[Model], Model]) -> dict[str, Model]:  # noqa: F811
    """Return a row for each address that is about one."""
    others = [User.objects.create(username="somebody", is_staff=True)]
    return {row._meta.label_lower.replace(".", "_"): row for row in [*newest.values(), *others]}


def address_of(name: str, rows: dict[str, Model]) -> str:
    if name == "on_call":
        return reverse("admin:on_call")
    row = next(row for label, row in rows.items() if name.startswith(f"{label}_"))
    with suppress(NoReverseMatch):
        return reverse(f"admin:{name}")
    return reverse(f"admin:{name}", args=[row.pk, *PARTS.get(name, ())])


def answer_to(client: Client, name: str, rows: dict[str, Model]) -> int:
    """Return the status of what one is answered who asks for a page, or does an act that has none."""
    address, fields = address_of(name, rows), WITHOUT_PAGE.get(name)
    return (client.get(address) if fields is None else client.post(address, fields)).status_code


def client_in(role: str) -> Client:
    client, user = Client(), User.objects.create(username=role, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client.force_login(for_all(user))
    return client


def names_of_some() -> list[str]:
    """Return the names of the addresses that some roles have, and others have not."""
    return [name for name in NAMES if whose(name) not in (EVERYBODY, NOBODY)]


@pytest.fixture(autouse=True)
def _the_password_is_enough(settings: Any) -> None:
    settings.ADMIN_MFA = False


def test_finance_may_do_what_support_may_and_each_role_what_a_viewer_may(db: None) -> None:
    rights = {role: set(Group.objects.get(name=role).permissions.all()) for role in ROLES}
    assert rights["support"] <= rights["finance"]
    assert [role for role in ROLES if not rights["viewer"] <= rights[role]] == []


# A viewer has the fewest rights: what is everybody's need not be asked by the others, too.
@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_role_opens_what_is_its_own_and_nothing_else(role: str, rows: dict[str, Model]) -> None:
    client, names = client_in(role), NAMES if role == "viewer" else names_of_some()
    answers = {name: answer_to(client, name, rows) for name in names}
    open_to = {name for name, status in answers.items() if status in (200, 302)}
    assert open_to == {name for name in names if role in whose(name)}
    assert {answers[name] for name in names if name not in open_to} <= {403, 404}


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_role_does_no_act_of_others(role: str, rows: dict[str, Model]) -> None:
    client = client_in(role)
    for name in [name for name in names_of_some() if role not in whose(name)]:
        assert client.post(address_of(name, rows), {"post": "yes"}).status_code in (403, 404), name


# Finance may do all that support may, and so all that a viewer may.
@pytest.mark.parametrize("role", ["administrator", "finance"])
def test_a_role_neither_opens_nor_does_what_is_nobodys(role: str, rows: dict[str, Model]) -> None:
    client = client_in(role)
    for name in [name for name in NAMES if whose(name) == NOBODY]:
        assert answer_to(client, name, rows) in (403, 404), name
        assert client.post(address_of(name, rows), {"post": "yes"}).status_code in (403, 404), name


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_role_does_its_own_acts(role: str, rows: dict[str, Model]) -> None:
    client = client_in(role)
    acts = [name for name in NAMES if name.rpartition("_")[2] not in BY_KIND and role in whose(name)]
    # Asked to do nothing in particular, an act says what it wants to know.
    answers = {name: client.post(address_of(name, rows), WITHOUT_PAGE.get(name)).status_code for name in acts}
    assert {name for name, status in answers.items() if status not in (200, 302)} == set()


def test_every_address_has_been_thought_about() -> None:
    assert [name for name in NAMES if name not in WHOSE and name.rpartition("_")[2] not in BY_KIND] == []


@pytest.mark.parametrize("role", ["finance", "support", "viewer"])
def test_only_administrators_change_merchants(role: str, rows: dict[str, Model]) -> None:
    address = address_of("payments_merchant_change", rows)
    assert client_in(role).post(address, {"title": "Mine"}).status_code == 403


def test_administrators_do_nothing_about_money() -> None:
    shared = {"payments.change_case", "payments.withdraw_payoutaccount", *MONTH_END}
    assert ROLES["administrator"] & ROLES["finance"] == shared


def test_nobody_without_a_role_opens_a_page_of_rows(rows: dict[str, Model]) -> None:
    client = signed_in(User.objects.create(username="new", is_staff=True))
    # What a viewer may not open is not opened with fewer rights either.
    names = [name for name in NAMES if "viewer" in whose(name)]
    assert {answer_to(client, name, rows) for name in names} <= {403, 404}


def test_a_migration_sets_the_roles_anew(db: None) -> None:
    viewer = Group.objects.get(name="viewer")
    viewer.permissions.add(Permission.objects.get(codename="approve_correction"))
    make_roles()
    assert not viewer.permissions.filter(codename="approve_correction").exists()


def test_a_viewer_sees_what_the_service_has_and_no_people(db: None) -> None:
    seen = set(Group.objects.get(name="viewer").permissions.values_list("codename", flat=True))
    ours = {
        f"view_{model._meta.model_name}"
        for name in ("payments", "simulator", "customers")
        for model in apps.get_app_config(name).get_models()
        if "view" in model._meta.default_permissions
    }
    assert seen == ours - {"view_auditentry"}
