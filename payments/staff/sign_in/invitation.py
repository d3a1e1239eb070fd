"""The page of an invitation's link: a first password is set there, or the access goes to who is signed in."""

from typing import Any, cast

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from django import forms
from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.generic import FormView

from payments import context
from payments.api.access.throttling import client_address
from payments.context import Actor
from payments.domain.operators.four_eyes import Refused
from payments.staff import invitations
from payments.staff.sign_in.views import AdminPage
from payments.staff.sites import site_for, site_of


class InvitationView(AdminPage, FormView):
    """Asks an invited person for a password, then for a second factor unless ADMIN_MFA is off.

    Who is signed in to the merchants' site is asked whether the access is to be theirs.
    """

    title = _("Set your password")
    template_name = "admin/staff/invitation.html"
    invited: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        invited = invitations.user_of(kwargs["token"])
        if invited is None or site_for(invited) is not site_of(request):
            return self._over()
        self.invited = invited
        return super().dispatch(request, *args, **kwargs)

    @property
    def _is_for_reader(self) -> bool:
        is_person = not (self.invited.is_staff or self.request.user.is_staff)
        return is_person and bool(site_of(self.request).is_signed_in(self.request))

    def get_form(self, form_class: Any = None) -> forms.BaseForm:
        data = self.get_form_kwargs()
        return forms.Form(**data) if self._is_for_reader else SetPasswordForm(self.invited, **data)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown = {"invited": self.invited, "is_for_reader": self._is_for_reader, "here": self.request.path}
        if self._is_for_reader:
            shown["title"] = _("Your invitation")
        return super().get_context_data(**shown | kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            return self._taken() if self._is_for_reader else self._with_password(form)
        except invitations.InvitationOver:
            return self._over()

    def _taken(self) -> HttpResponse:
        try:
            access = invitations.take(self.kwargs["token"], self.invited, cast(User, self.request.user))
        except Refused as refusal:
            messages.error(self.request, str(refusal))
        else:
            text = gettext("You work for {merchant} now.").format(merchant=access.merchant)
            messages.success(self.request, text)
        return redirect("admin:index")

    def _with_password(self, form: SetPasswordForm) -> HttpResponse:
        actor = Actor(self.invited.get_username(), client_address(self.request), self.invited.pk)
        token = context.actor.set(lambda: actor)
        try:
            invitations.accept(self.kwargs["token"], form)
        finally:
            context.actor.reset(token)
        return perform_password_login(self.request, {}, Login(user=self.invited))

    def _over(self) -> HttpResponse:
        """Return 404, the same for every link that does not work."""
        context = super().get_context_data(
            form=None, title=gettext("This link does not work"), days=invitations.VALID.days
        )
        return render(self.request, "admin/staff/invitation_over.html", context, status=404)
