"""Issuing, rolling and revoking merchants' API keys."""

import re
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.form_fields import MODE_CHOICES, WholeNumberField, overlap_field
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import OnceForm, ReasonForm, SecretsHidden
from payments.admin.shown_times import moment_cell
from payments.domain.approvals.limits import BadRules, key_needs_approval, parse_rules
from payments.domain.catalogue.refusal_texts import translated
from payments.domain.merchants import api_keys
from payments.domain.merchants.assistants import Rules
from payments.domain.merchants.merchants import MODES
from payments.domain.merchants.origins import BadOrigins, set_origins
from payments.domain.merchants.scopes import RIGHTS
from payments.domain.operators.four_eyes import Refused
from payments.models import ApiKey, ApprovalRequest, Merchant
from payments.models.operators.reasons import free_of_secrets
from payments.vault import VaultUnavailable

LONGEST_LIFE_DAYS = 3650
BETWEEN_WORDS = re.compile(r"[\s,]+")
Kind = ApprovalRequest.Kind
KEY_NOTICE = _(
    "A live key that can move money is made only after {approver} has approved the request: "
    "a secret key, a restricted one with charges:write, refunds:write or disputes:write, or an assistant's key with "
    "amounts in its rules. You then take it, "
    "and see its text once. Any other key is shown at once."
)
APPROVER = _("an administrator other than you")
ROLL_NOTICE = _(
    "Anybody with the new key can move the merchant's money, so {approver} must approve "
    "this. You then take the new key, and see its text once; the overlap of the old one begins when you take it."
)


class KeyForm(OnceForm):
    name = forms.CharField(
        label=_("Name"),
        max_length=60,
        required=False,
        validators=[free_of_secrets],
        help_text=_("What uses it, such as “web shop”. Payers do not see it."),
    )
    mode = forms.ChoiceField(label=_("Mode"), choices=MODE_CHOICES)
    kind = forms.ChoiceField(label=_("Kind"), choices=ApiKey.Kind.choices)
    rights = forms.MultipleChoiceField(
        label=_("Rights"),
        choices=lambda: [(name, f"{name}: {gettext(what)}") for name, what in RIGHTS.items()],
        required=False,
        widget=forms.CheckboxSelectMultiple({"class": "radiolist"}),
        help_text=_("Of a restricted or an assistant's key, and of no other. An assistant's key only reads."),
    )
    rules = forms.CharField(
        label=_("What an assistant may ask for"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField"}),
        help_text=_(
            "Of an assistant's key: charge, capture, void, refund, link, request or payout, one a line. A person "
            "decides each call. With amounts, “refund PHP 1000.00 5000.00”, nobody does up to so much each and a day."
        ),
    )
    networks = forms.CharField(
        required=False,
        label=_("Works from"),
        widget=forms.Textarea(attrs={"rows": 2, "class": "vLargeTextField"}),
        help_text=_("Networks such as 10.0.0.0/8 or 2001:db8::/32. Empty: everywhere."),
    )
    days = WholeNumberField(
        label=_("Ends after days"),
        required=False,
        min_value=1,
        max_value=LONGEST_LIFE_DAYS,
        help_text=_("Empty: it works until it is revoked."),
    )

    def clean_rules(self) -> Rules:
        try:
            return parse_rules(self.cleaned_data["rules"].splitlines())
        except BadRules as fault:
            raise forms.ValidationError(translated(str(fault))) from fault

    def clean_networks(self) -> list[str]:
        return list(filter(None, BETWEEN_WORDS.split(self.cleaned_data["networks"])))


class IssueKey(Action):
    name, label = "issue_key", _("Issue a key")
    permission = ApprovalRequest.KEYS[Kind.ISSUE_KEY]
    form = KeyForm
    refusals = (api_keys.BadKey, Refused, VaultUnavailable)
    approver = APPROVER
    what_happens = _("A new key works for anybody who has it. Its text is shown once and not stored.")

    def notice(self, merchant: Merchant, operator: User) -> Any:
        return approval_notice(KEY_NOTICE.format(approver=self.approver), operator, merchant)

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        livemode, kind, rights = MODES[cleaned["mode"]], cleaned["kind"], cleaned["rights"]
        if key_needs_approval(livemode, kind, rights, cleaned["rules"]):
            asked = {name: cleaned[name] for name in ("name", "kind", "rights", "networks", "days", "rules")}
            return submitted(merchant, Kind.ISSUE_KEY, cleaned, asked)
        end = clock.now() + timedelta(days=cleaned["days"]) if cleaned["days"] else None
        limits = {name: cleaned[name] for name in ("rights", "networks", "name", "rules")}
        return shown_key(*api_keys.create_key(merchant, livemode, kind, end, key_id=cleaned["row_id"], **limits))


class RollForm(OnceForm):
    hours = overlap_field(_("How long the old key still works. An earlier end that it has stays; 0 ends it now."))


class RollKey(Action):
    for_merchants = True
    name, label = "roll", _("Roll this key")
    permission = ApprovalRequest.KEYS[Kind.ROLL_KEY]
    form = RollForm
    refusals = (api_keys.KeyInactive, Refused, VaultUnavailable)
    approver = APPROVER

    def fits(self, key: ApiKey) -> bool:
        return key.works

    def facts(self, key: ApiKey) -> Facts:
        yield from facts_of(key)
        yield (
            gettext("What happens"),
            gettext("A new key that may do the same is shown once. The old one ends after the overlap."),
        )
        if moves_money(key):
            yield gettext("If it leaked"), gettext("Revoke it: that takes one person and holds at once.")

    def notice(self, key: ApiKey, operator: User) -> Any:
        words = ROLL_NOTICE.format(approver=self.approver)
        return approval_notice(words, operator, key.merchant) if moves_money(key) else None

    def do(self, key: ApiKey, cleaned: dict[str, Any]) -> Done:
        if moves_money(key):
            asked = {"key": str(key), "hours": cleaned["hours"]}
            asked |= {name: getattr(key, name) for name in ("kind", "rights", "rules")}
            return submitted(key.merchant, Kind.ROLL_KEY, cleaned, asked, subject_id=key.id)
        return shown_key(*api_keys.roll_key(key, timedelta(hours=cleaned["hours"]), cleaned["row_id"]))


def facts_of(key: ApiKey) -> Facts:
    """Yield which key it is."""
    yield gettext("Key"), f"{key.name or gettext('Key')}: {key}"
    yield gettext("Merchant"), key.merchant.title
    yield gettext("Last used"), moment_cell(key.last_used_at)


class OriginsForm(ReasonForm):
    origins = forms.CharField(
        label=_("Origins"),
        required=False,
        widget=SecretsHidden(attrs={"rows": 4, "class": "vLargeTextField"}),
        help_text=_("Such as https://shop.example, without a path. Empty: any in test mode, none in live mode."),
    )

    def clean_origins(self) -> list[str]:
        return list(filter(None, BETWEEN_WORDS.split(self.cleaned_data["origins"])))


class SetOrigins(Action):
    for_merchants = True
    name, label = "set_origins", _("Set its origins")
    permission = ApprovalRequest.KEYS[Kind.ROLL_KEY]
    refusals = (BadOrigins,)
    what_happens = _(
        "Pages of these origins, and of no others, may use the key and show its card fields, within a second."
    )

    def fits(self, key: ApiKey) -> bool:
        return key.kind == ApiKey.Kind.PUBLISHABLE and key.revoked_at is None

    def form_for(self, key: ApiKey, data: Any) -> ReasonForm:
        return OriginsForm(data, initial={"origins": "\n".join(key.allowed_origins)})

    def about(self, key: ApiKey) -> Facts:
        return facts_of(key)

    def do(self, key: ApiKey, cleaned: dict[str, Any]) -> Done:
        origins = set_origins(key, cleaned["origins"])
        words = gettext("From now on for pages of {origins}.") if origins else gettext("From now on it has no list.")
        return words.format(origins=", ".join(origins))


class RevokeKey(Action):
    for_merchants = True
    name, label = "revoke", _("Revoke this key")
    permission = "payments.delete_apikey"
    what_happens = _("It is refused from the next request on. This cannot be undone.")

    def fits(self, key: ApiKey) -> bool:
        return key.revoked_at is None

    def about(self, key: ApiKey) -> Facts:
        return facts_of(key)

    def do(self, key: ApiKey, cleaned: dict[str, Any]) -> Done:
        is_new = api_keys.revoke_key(key)
        words = gettext("{key} is revoked.") if is_new else gettext("{key} had been revoked before.")
        return words.format(key=key)


def moves_money(key: ApiKey) -> bool:
    """Return whether anybody with the key can move real money."""
    return key_needs_approval(key.livemode, key.kind, key.rights, key.rules)


# What is shown once of a merchant, by the name that programs know.
SECRET_NAMES = {
    "sk_test": _("Secret key, test mode"),
    "sk_live": _("Secret key, live mode"),
    "pk_test": _("Publishable key, test mode"),
    "pk_live": _("Publishable key, live mode"),
    "whsec_test": _("Webhook secret, test mode"),
    "whsec_live": _("Webhook secret, live mode"),
}


def shown_key(key: ApiKey, text: str) -> dict[Any, str]:
    """Return what is shown once of a new key."""
    return {SECRET_NAMES.get(text.rpartition("_")[0], gettext("Key")): text}
