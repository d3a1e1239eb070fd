"""Merchants' accounts at providers: opened, changed, tested and connected. Only this module decrypts credentials."""

import json
from collections.abc import Mapping
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction

from payments import clock, ids
from payments.domain import provider_calls
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.bulkheads import ProviderBusy
from payments.domain.provider_calls import ProviderCall
from payments.models import Merchant, ProviderAccount
from payments.providers import registry
from payments.providers.accounts import Account, AccountField
from payments.providers.base import Outcome, Provider, Unknown
from payments.vault import Place, Purpose, seal, unseal, with_prefetched_keys

# The last four characters of a shorter secret would disclose too much.
HINTED_LENGTH = 12
HINT_LENGTH = 4

# The provider of each account, and the account's version that it was made of.
_connected: dict[UUID, tuple[int, Provider]] = {}


class BadAccount(ValueError):
    """An account that is refused; the message is for the operator who described it.

    `field` names the credential or setting at fault, if it is one.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@with_prefetched_keys
def open_account(
    merchant: Merchant,
    livemode: bool,
    provider: str,
    title: str,
    credentials: Mapping[str, str],
    settings: Mapping[str, str],
    account_id: UUID | None = None,
) -> ProviderAccount:
    """Open an account, in use at once, with `account_id` if given. Raise BadAccount, VaultUnavailable."""
    account = ProviderAccount(
        id=account_id or ids.new_id(), merchant=merchant, livemode=livemode, provider=provider, title=title
    )
    _fill_in(account, credentials, settings)
    try:
        with transaction.atomic():
            account.save(force_insert=True)
            mode = "live" if livemode else "test"
            detail = ", ".join([f"at {provider}", f"{mode} mode", *audit_log.changes({}, account.settings)])
            audit_log.record(Action.ADDED, account, detail=detail)
    except IntegrityError:
        raise BadAccount("The merchant has an account with this title in this mode.") from None
    return account


@with_prefetched_keys
def change_account(
    account: ProviderAccount, title: str, enabled: bool, credentials: Mapping[str, str], settings: Mapping[str, str]
) -> None:
    """Change the account's title, settings, and those credentials that are not empty.

    A disabled account gets no new charges; its charges can still be captured, voided and refunded. New settings may
    send credentials elsewhere, so they require the credentials again. Raise BadAccount, VaultUnavailable.
    """
    with transaction.atomic():
        locked = ProviderAccount.objects.select_for_update(no_key=True).get(id=account.id)
        before = _described(locked)
        given = {name: value for name, value in credentials.items() if value}
        require_credentials(locked, given, settings)
        locked.title, locked.enabled = title, enabled
        _fill_in(locked, _credentials(locked) | given, settings)
        locked.version, locked.updated_at = locked.version + 1, clock.now()
        locked.save()
        after = _described(locked)
        # The names of the credentials, and never their values.
        changed = [name for name in sorted(before | after) if before.get(name) != after.get(name)]
        audit_log.record(
            Action.CHANGED,
            locked,
            fields=[*changed, *given],
            detail=", ".join(audit_log.changes(before, after)),
            notice_of=locked.merchant_id if locked.livemode else None,
        )


def require_credentials(account: ProviderAccount, given: Mapping[str, str], settings: Mapping[str, str]) -> None:
    """Raise BadAccount where `settings` are other ones, and a credential of the account is not `given` again."""
    if {name: value for name, value in settings.items() if value} == account.settings:
        return
    for name in sorted(account.hints.keys() - given.keys()):
        raise BadAccount("Type it again: the settings say where it is sent, and they change.", name)


def connected(account: ProviderAccount) -> Provider:
    """Return the provider with the account's credentials.

    Raise KeyError for a provider that is not installed, VaultError, VaultUnavailable.
    """
    version, provider = _connected.get(account.id, (0, None))
    if provider is None or version != account.version:
        described = Account(account.livemode, _credentials(account), account.settings)
        provider = registry.connect(account.provider, described)
        _connected[account.id] = account.version, provider
    return provider


def try_credentials(account: ProviderAccount) -> Outcome:
    """Whether the provider knows the account (Approved) or not (Rejected); moves nothing."""
    call = ProviderCall(account.provider, account.id, "test_credentials", account.public_id)
    outcome: Outcome
    try:
        outcome = provider_calls.ask(call, partial(connected, account), lambda provider: provider.test_credentials())
    except ProviderBusy as busy:
        outcome = Unknown(type(busy).__name__)
    audit_log.record(Action.TESTED, account, detail=type(outcome).__name__)
    return outcome


def _fill_in(account: ProviderAccount, credentials: Mapping[str, str], settings: Mapping[str, str]) -> None:
    connector = registry.CONNECTORS.get(account.provider)
    if connector is None:
        raise BadAccount(f"There is no connector for {account.provider!r}.")
    if not account.title.strip():
        raise BadAccount("The account needs a title.")
    account.settings = _filled(connector.settings, settings)
    filled = _filled(connector.credentials, credentials)
    account.sealed_credentials = seal(json.dumps(filled), _place(account))
    account.hints = {
        name: value[-HINT_LENGTH:] if len(value) >= HINTED_LENGTH else "" for name, value in filled.items()
    }


def _filled(fields: tuple[AccountField, ...], given: Mapping[str, str]) -> dict[str, str]:
    """Return what is `given` for the fields, without those left empty. Raise BadAccount."""
    for field in fields:
        value = given.get(field.name, "")
        if field.required and not value:
            raise BadAccount(f"{field.label} is missing.", field.name)
        if value and not field.pattern.fullmatch(value):
            # The value is not repeated: it may be a credential in the wrong place.
            raise BadAccount(f"{field.label}: {field.form}", field.name)
    if unknown := given.keys() - {field.name for field in fields}:
        raise BadAccount(f"The connector does not ask for {', '.join(sorted(unknown))}.")
    return {name: value for name, value in given.items() if value}


def _described(account: ProviderAccount) -> dict[str, str]:
    """Return what is not secret of an account, for the audit log."""
    return {"title": account.title, "enabled": "yes" if account.enabled else "no", **account.settings}


def _credentials(account: ProviderAccount) -> dict[str, str]:
    credentials: dict[str, str] = json.loads(unseal(account.sealed_credentials, _place(account)))
    return credentials


def _place(account: ProviderAccount) -> Place:
    return Place(Purpose.SECRET, account.merchant_id, account.id, "provider_credentials")
