"""The permissions of each role, groups that every `migrate` sets to exactly these, and since when people have them."""

from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

from customers.domain.verbs import DETACH
from payments import clock
from payments.domain.approvals.verbs import PAYOUT
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.charging.verbs import ON_CHARGES, REFUND
from payments.domain.checkout.verbs import ON_CHECKOUTS
from payments.domain.disputes.verbs import ACCEPT, ADD_EVIDENCE
from payments.inbox.statements import MAY_GET
from payments.models import ApprovalLimit, ApprovalRequest, Correction, MerchantAccess, OperatorAction
from payments.models.merchants.merchant_access import WORKS_FOR_ALL
from payments.staff.models import OperatorProfile

# Nobody waits any more who has had their rights since then.
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
# Every role may view every model, also new ones, except the audit log.
LOOK = Q(codename__startswith="view_", content_type__app_label__in=["payments", "simulator", "customers"])
LOOK &= ~Q(codename="view_auditentry")

VIEWER = frozenset[str]()
# Of finance and administrators: files of the books, reports of providers, and notes on differences. No money moves.
MONTH_END = {
    MAY_GET,
    "payments.download_ledgerday",
    "payments.add_reportupload",
    "payments.add_filelayout",
    "payments.add_ownbankaccount",
    "payments.change_ownbankaccount",
    "payments.close_reconciliationitem",
}
# What people of the service and a merchant's own do alike, by theme. To help payers moves no money.
EXPORT = {"payments.export_list", "payments.view_fileschedule"}
HELP = EXPORT | {"payments.resend_payermessage", *(verb.permission for verb in (*ON_CHECKOUTS, ADD_EVIDENCE))}
DECIDE = {ACCEPT.permission, OperatorAction.MAY_DECIDE}
SEND_AGAIN = {"payments.change_webhook"}
KEYS = {
    *ApprovalRequest.KEYS.values(),
    "payments.delete_apikey",
    "payments.add_webhooksecret",
    "payments.change_webhookendpoint",
}
# To stop a change of where money goes is easy.
STOP = {"payments.withdraw_payoutaccount"}
TERMS = STOP | {
    ApprovalRequest.MAY_DECIDE,
    "payments.change_merchant",
    "payments.add_payoutaccount",
    "payments.add_approvallimit",
    "payments.change_approvallimit",
}
SUPPORT = {
    *(HELP | SEND_AGAIN | STOP),
    "payments.change_case",
    "payments.acknowledge_declinealert",
    "payments.look_up_unknownoutcome",
    REFUND.permission,
}
FINANCE = {
    *(SUPPORT | DECIDE),
    *(verb.permission for verb in ON_CHARGES),
    "payments.put_block",
    "payments.lift_block",
    Correction.MAY_PROPOSE,
    Correction.MAY_DECIDE,
    "payments.close_providerevent",
    PAYOUT.permission,
    "payments.approve_payout",
    "payments.cancel_payout",
    "payments.record_payout",
    "payments.add_payoutfile",
    "payments.download_payoutfile",
    "payments.send_payoutfile",
    *MONTH_END,
}
ADMINISTRATOR = {
    *(KEYS | TERMS),
    "payments.view_auditentry",
    "payments.change_case",
    "payments.add_merchant",
    "payments.add_feetemplate",
    "payments.change_feetemplate",
    "payments.delete_feetemplate",
    "payments.change_provideraccount",
    "payments.test_provideraccount",
    "payments.change_route",
    # When money goes; finance sends it.
    "payments.change_payoutschedule",
    DETACH.permission,
    "payments.add_binrange",
    "payments.change_binrange",
    "payments.delete_binrange",
    "auth.view_user",
    "auth.add_user",
    "auth.change_user",
    "mfa.view_authenticator",
    "mfa.delete_authenticator",
    *MONTH_END,
}
# Default approval limits: how much of a charge a role gives back without another operator's approval.
LIMITS = {"support": {"PHP": 500_000, "USD": 10_000}, "finance": {"PHP": 10_000_000, "USD": 200_000}}
# The group of operators who work for all merchants; others work only for those that are named.
ALL_MERCHANTS = "all merchants"
ROLES = {"viewer": VIEWER, "support": SUPPORT, "finance": FINANCE, "administrator": ADMINISTRATOR}


def note_growth(*users: Any, since: datetime | None = None) -> None:
    """Note that the rights of users have grown now, so that they approve nothing of others yet, or `since` then."""
    for user in users:
        OperatorProfile.objects.update_or_create(user=user, defaults={"rights_since": since or clock.now()})


def end_wait(user: Any) -> None:
    """Have `user` approve from now on."""
    note_growth(user, since=LONG_AGO)
    MerchantAccess.objects.filter(user=user).update(rights_since=LONG_AGO)
    audit_log.record(Action.CHANGED, user, fields=["rights_since"], detail="approves from now on")


@transaction.atomic
def make_roles(**_: Any) -> None:
    """Set the permissions of each role's group, and the approval limits that it lacks.

    Raises KeyError for an unknown permission.
    """
    known = {
        f"{one.content_type.app_label}.{one.codename}": one for one in Permission.objects.select_related("content_type")
    }
    looking = list(Permission.objects.filter(LOOK))
    for name, permissions in ROLES.items():
        group, _created = Group.objects.get_or_create(name=name)
        group.permissions.set([*looking, *(known[permission] for permission in permissions)])
        for currency, amount in LIMITS.get(name, {}).items():
            ApprovalLimit.objects.get_or_create(role=group, currency=currency, defaults={"amount": amount})
    mark, _created = Group.objects.get_or_create(name=ALL_MERCHANTS)
    mark.permissions.set([known[WORKS_FOR_ALL]])
