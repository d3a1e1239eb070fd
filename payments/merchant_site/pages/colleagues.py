"""The page of a merchant's people, and what operators do for a merchant that has none yet."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import one_of
from payments.admin.framework.formats import beside, column
from payments.admin.framework.object_actions import Facts, address_of
from payments.admin.framework.reason_form import ReasonForm, TextForm
from payments.admin.merchants.merchants import offered_on_merchants
from payments.domain.operators.four_eyes import Refused
from payments.merchant_site import colleagues
from payments.merchant_site.policy import on_merchant_site
from payments.models import Merchant, MerchantAccess
from payments.staff.sign_in.addresses import AddressField

MAY_CHANGE = "payments.change_merchantaccess"
ROLE_WORDS = {
    "owner": _("everything: also colleagues, keys, the bank account and the business"),
    "finance": _("refunds, disputes, payouts, statements; approves refunds"),
    "support": _("refunds up to the limit, answers disputes, makes links and requests"),
    "developer": _("keys, webhooks, events and requests; moves no money"),
    "viewer": _("sees payments, changes nothing"),
}


def _roles() -> list[tuple[str, str]]:
    return [(role.value, f"{role.label}: {ROLE_WORDS[role]}") for role in MerchantAccess.Role]


class NothingAsked(TextForm, forms.Form):
    """A form that is a button alone."""


class RoleForm(TextForm, forms.Form):
    role = forms.ChoiceField(choices=_roles, widget=forms.RadioSelect({"class": "radiolist"}), label=_("Role"))


class PersonForm(TextForm, forms.Form):
    name = forms.CharField(max_length=150, label=_("Name"))
    email = AddressField(label=_("E-mail address"))

    def offer(self, domain: str) -> None:
        """Take what stands before `@` alone for an address at the merchant's own `domain`."""
        email: Any = self.fields["email"]
        email.domain, email.help_text = domain, _("Or only what stands before @{domain}.").format(domain=domain)
        # A browser would ask for an @.
        email.widget.input_type = "text"


class ColleagueForm(PersonForm, RoleForm):
    field_order = ("name", "email", "role")


# Their domains are nobody's own: an address there may be anybody's.
MAIL_PROVIDERS = {"gmail.com", "yahoo.com", "yahoo.com.ph", "ymail.com", "hotmail.com", "outlook.com", "live.com"}
MAIL_PROVIDERS |= {"icloud.com", "me.com", "aol.com", "proton.me", "protonmail.com", "gmx.com", "zoho.com"}


class OwnerForm(PersonForm, ReasonForm):
    """The first owner, invited by an operator."""


class InviteColleague(Action):
    name, label, button = "invite", _("Invite a colleague"), _("Invite")
    permission = "payments.add_merchantaccess"
    is_new = for_merchants = True
    form: type[PersonForm] = ColleagueForm
    refusals = (Refused,)
    what_happens = _(
        "The person gets a link, which works once. Access begins when they open it: they set a password and a second "
        "factor, or sign in with the account that they have."
    )

    def form_for(self, row: Merchant, data: Any) -> forms.Form:
        form = self.form(data)
        domain = row.support_email.rpartition("@")[2]
        if domain and domain not in MAIL_PROVIDERS:
            form.offer(domain)
        return form

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        role = cleaned.get("role", MerchantAccess.Role.OWNER)
        return colleagues.send_link(colleagues.add(merchant, cleaned["name"], cleaned["email"], role))


@offered_on_merchants
class InviteOwner(InviteColleague):
    name, label = "invite_owner", _("Invite an owner")
    permission = "auth.add_user"
    is_new = for_merchants = False
    form = OwnerForm
    what_happens = _("The person may do everything on the merchants' own site, and invites the others there.")


class ColleagueAction(Action):
    permission = MAY_CHANGE
    for_merchants = True
    refusals = (Refused,)
    form: type[forms.Form] = NothingAsked

    def question(self, row: MerchantAccess) -> str:
        return f"{self.label}: {_name_of(row)}"

    def about(self, row: MerchantAccess) -> Facts:
        yield _("Person"), f"{_name_of(row)} ({row.user.email})"
        yield _("Role"), row.get_role_display()


class ChangeRole(ColleagueAction):
    name, label = "change_role", _("Change the role")
    what_happens = _("It holds from the next page on that the person opens.")

    def form_for(self, row: MerchantAccess, data: Any) -> forms.Form:
        return RoleForm(data, initial={"role": row.role})

    def do(self, row: MerchantAccess, cleaned: dict[str, Any]) -> Done:
        colleagues.change_role(row, cleaned["role"])
        return gettext("{name} is {role} now.").format(name=_name_of(row), role=gettext(cleaned["role"]))


class SendAgain(ColleagueAction):
    name, label = "send_again", _("Send the invitation again")
    over = colleagues.OPENED
    what_happens = _("An earlier link stops working.")

    def fits(self, row: MerchantAccess) -> bool:
        return colleagues.is_invited(row)

    def do(self, row: MerchantAccess, cleaned: dict[str, Any]) -> Done:
        return colleagues.send_again(row)


class EndAccess(ColleagueAction):
    name, label, button = "end", _("End the access"), _("End it now")
    over = _("This access has ended already.")
    what_happens = _("The person opens no page of this business any more. What they did stays recorded.")

    def do(self, row: MerchantAccess, cleaned: dict[str, Any]) -> Done:
        colleagues.end(row)
        return gettext("{name} has no access any more.").format(name=_name_of(row))


@on_merchant_site(MerchantAccess)
class Colleagues(BaseAdmin):
    """Those who have a role at the merchant."""

    for_merchants = "person shown_role shown_name email sign_in_name may role name user__email"
    called = (_("colleague"), _("colleagues"))
    key_converter = "int"
    row_actions = (InviteColleague(), ChangeRole(), SendAgain(), EndAccess())
    list_display = ("person", "shown_role")
    file_columns = ("shown_name", "email", "shown_role")
    list_filter = (one_of("role", ROLE_WORDS),)
    list_select_related = ("user", "merchant")
    search_fields = ("name", "user__email")
    search_help_text = _("A name or an e-mail address.")
    head_columns = ("shown_role",)
    fieldsets = ((None, {"fields": ("email", "sign_in_name", "may")}),)
    person = column(_("Person"), lambda row: beside(_name_of(row), row.user.email))
    shown_name = column(_("Name"), lambda row: _name_of(row))
    email = column(_("E-mail"), lambda row: row.user.email)
    sign_in_name = column(_("Signs in as"), lambda row: row.user.get_username())
    shown_role = column(_("Role"), lambda row: row.get_role_display())
    may = column(_("May do"), lambda row: ROLE_WORDS[row.role])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).exclude(role="")

    def headline(self, row: MerchantAccess) -> str:
        return _name_of(row)

    def page_after(self, row: Any) -> str:
        # The row may have been ended.
        return address_of(self, "changelist")


def _name_of(row: MerchantAccess) -> str:
    return row.name or row.user.get_username()
