"""What administrators do about an operator's account, beside its form."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from payments.admin.framework.actions import Action
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.shown_times import moment_cell
from payments.staff import invitations
from payments.staff.models import Invitation

MAY_CHANGE = "auth.change_user"


class InviteForm(ReasonForm):
    by_mail = forms.BooleanField(label="Send it by e-mail", required=False, initial=True)


class Invite(Action):
    name, label, button = "invite", "Make a link to set a password", "Make the link"
    permission = MAY_CHANGE

    def fits(self, user: User) -> bool:
        return user.is_active

    def form_for(self, user: User, data: Any) -> forms.Form:
        return InviteForm(data) if settings.EMAIL_HOST and user.email else ReasonForm(data)

    def facts(self, user: User) -> Facts:
        days = invitations.VALID.days
        yield "Operator", f"{user.first_name or user} ({user.email or 'no e-mail address'})"
        yield ("What happens", "A link is shown once. By it the operator sets a password and a second factor.")
        yield "How long it works", f"Once, within {days} days. An earlier link stops working now."
        yield "Who can use it", "Anybody who has the link. Pass it on over a channel that keeps it secret."

    def do(self, user: User, cleaned: dict[str, Any]) -> Mapping[str, str]:
        shown = {"Link": invitations.invite(user)}
        if cleaned.get("by_mail"):
            is_sent = invitations.send(user, shown["Link"])
            shown["E-mail"] = f"Sent to {user.email}." if is_sent else "The mail server did not take it: pass it on."
        return shown


class WithdrawInvitation(Action):
    name, label = "withdraw_invitation", "Withdraw the link"
    permission = MAY_CHANGE

    def fits(self, user: User) -> bool:
        return Invitation.objects.filter(user=user).exists()

    def facts(self, user: User) -> Facts:
        invitation = Invitation.objects.filter(user=user).first()
        yield "Operator", str(user)
        yield "Open until", moment_cell(invitation.expires_at if invitation else None)
        yield "What happens", "The link stops working. A password that was set before keeps working."

    def do(self, user: User, cleaned: dict[str, Any]) -> str:
        return "The link is withdrawn." if invitations.withdraw(user) else "There was no link any more."


class Deactivate(Action):
    name, label = "deactivate", "Deactivate"
    permission = MAY_CHANGE

    def fits(self, user: User) -> bool:
        return user.is_active

    def facts(self, user: User) -> Facts:
        yield "Operator", str(user)
        yield ("What happens", "The operator is signed out at the next request and cannot sign in. Records stay.")

    @transaction.atomic
    def do(self, user: User, cleaned: dict[str, Any]) -> str:
        invitations.withdraw(user)
        user.is_active = False
        user.save(update_fields=["is_active"])
        return f"{user} is deactivated."


class Reactivate(Action):
    name, label = "reactivate", "Reactivate"
    permission = MAY_CHANGE

    def fits(self, user: User) -> bool:
        return not user.is_active

    def facts(self, user: User) -> Facts:
        yield "Operator", str(user)
        yield "What happens", "The operator can sign in again. Password, second factors and roles are unchanged."

    def do(self, user: User, cleaned: dict[str, Any]) -> str:
        user.is_active = True
        user.save(update_fields=["is_active"])
        return f"{user} is active again."
