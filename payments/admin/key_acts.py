"""Keys of merchants: issued, rolled and revoked by operators, and shown once."""

import re
from datetime import timedelta
from typing import Any

from django import forms

from payments import clock
from payments.admin.acting import Facts
from payments.admin.formats import utc
from payments.admin.reasons import OnceForm
from payments.admin.row_acts import Done, RowAct
from payments.domain import keys
from payments.domain.merchants import MODES
from payments.domain.rights import RIGHTS
from payments.ids import public_id
from payments.models import ApiKey, Merchant

LONGEST_OVERLAP_HOURS = 30 * 24
LONGEST_LIFE_DAYS = 3650
BETWEEN_NETWORKS = re.compile(r"[\s,]+")
MODE_CHOICES = [(mode, mode) for mode in MODES]


def _right_choices() -> list[tuple[str, str]]:
    return [(name, f"{name}: {what}") for name, what in RIGHTS.items()]


def overlap_field(what: str) -> forms.IntegerField:
    """Asks for how many hours the old one goes on, as `what` says."""
    return forms.IntegerField(
        label="Overlap in hours", min_value=0, max_value=LONGEST_OVERLAP_HOURS, initial=24, help_text=what
    )


class KeyForm(OnceForm):
    mode = forms.ChoiceField(choices=MODE_CHOICES)
    kind = forms.ChoiceField(choices=ApiKey.Kind.choices)
    rights = forms.MultipleChoiceField(
        choices=_right_choices,
        required=False,
        widget=forms.CheckboxSelectMultiple({"class": "radiolist"}),
        help_text="Of a restricted key, and of no other.",
    )
    networks = forms.CharField(
        required=False,
        label="Works from",
        widget=forms.Textarea(attrs={"rows": 2, "class": "vLargeTextField"}),
        help_text="Networks such as 10.0.0.0/8 or 2001:db8::/32. Empty: everywhere.",
    )
    days = forms.IntegerField(
        label="Ends after days",
        required=False,
        min_value=1,
        max_value=LONGEST_LIFE_DAYS,
        help_text="Empty: it works until it is revoked.",
    )

    def clean_networks(self) -> list[str]:
        return list(filter(None, BETWEEN_NETWORKS.split(self.cleaned_data["networks"])))


class IssueKey(RowAct):
    name, label = "issue_key", "Issue a key"
    permission = "payments.add_apikey"
    form = KeyForm
    refusals = (keys.BadKey,)

    def facts(self, merchant: Merchant) -> Facts:
        yield "Merchant", merchant.title
        yield "What happens", "A new key works at once, for whoever has it. It is shown this once."

    def do(self, merchant: Merchant, said: dict[str, Any]) -> Done:
        end = clock.now() + timedelta(days=said["days"]) if said["days"] else None
        limits = {"rights": said["rights"], "networks": said["networks"], "key_id": said["row_id"]}
        return _told(*keys.create_key(merchant, MODES[said["mode"]], said["kind"], end, **limits))


class RollForm(OnceForm):
    hours = overlap_field("How long the old key goes on working. An earlier end that it has stays; 0 ends it now.")


class RollKey(RowAct):
    name, label = "roll", "Roll this key"
    permission = "payments.change_apikey"
    form = RollForm
    refusals = (keys.KeyIsOver,)

    def fits(self, key: ApiKey) -> bool:
        return key.revoked_at is None and not (key.expires_at and key.expires_at <= clock.now())

    def facts(self, key: ApiKey) -> Facts:
        yield from facts_of(key)
        yield "What happens", "A new key that may do the same is shown once. The old one ends after the overlap."

    def do(self, key: ApiKey, said: dict[str, Any]) -> Done:
        return _told(*keys.roll_key(key, timedelta(hours=said["hours"]), said["row_id"]))


class RevokeKey(RowAct):
    name, label = "revoke", "Revoke this key"
    permission = "payments.delete_apikey"

    def fits(self, key: ApiKey) -> bool:
        return key.revoked_at is None

    def facts(self, key: ApiKey) -> Facts:
        yield from facts_of(key)
        yield "What happens", "Whoever uses it is refused from the next request on. There is no way back."

    def do(self, key: ApiKey, said: dict[str, Any]) -> Done:
        return f"{key} is revoked." if keys.revoke_key(key) else f"{key} had been revoked before."


def facts_of(key: ApiKey) -> Facts:
    """Which key it is."""
    yield "Key", f"{key} ({public_id('key', key.pk)})"
    yield "Merchant", key.merchant.title
    yield "Last used (UTC)", utc(key.last_used_at)


def _told(key: ApiKey, text: str) -> Done:
    return {"ID": public_id("key", key.pk), "Key": text}
