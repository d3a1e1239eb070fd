"""Live provider accounts: connected and changed by the same functions that commands call."""

from typing import Any

from payments.domain.approvals.executors import Credentials
from payments.domain.approvals.kinds.changes import Overtaken, register_change
from payments.domain.routing import provider_accounts
from payments.domain.routing.provider_accounts import BadAccount
from payments.models import ApprovalRequest, ProviderAccount

Kind = ApprovalRequest.Kind


def describe_account(account: ProviderAccount) -> dict[str, Any]:
    """Return the columns of an account that a request to change it stores."""
    return {name: getattr(account, name) for name in ("title", "enabled", "settings", "version")}


def _add(request: ApprovalRequest, credentials: Credentials) -> None:
    asked = request.after
    values = asked["provider"], asked["title"], credentials, asked["settings"]
    provider_accounts.open_account(request.merchant, True, *values, request.subject_id)


def _change(request: ApprovalRequest, credentials: Credentials) -> None:
    account, asked = ProviderAccount.objects.select_for_update(no_key=True).get(id=request.subject_id), request.after
    if account.version != request.before["version"]:
        raise Overtaken("The account was changed since this was requested.")
    provider_accounts.change_account(account, asked["title"], asked["enabled"], credentials, asked["settings"])


register_change(Kind.ADD_ACCOUNT, _add, BadAccount)
register_change(Kind.CHANGE_ACCOUNT, _change, BadAccount)
