"""The page of an invitation's link, where an operator sets the first password."""

from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.generic import FormView

from payments import context
from payments.api.access.throttling import client_address
from payments.context import Actor
from payments.staff import invitations
from payments.staff.hosts import site_for, site_of
from payments.staff.sign_in.views import AdminPage


class InvitationView(AdminPage, FormView):
    """Asks an invited operator for a password, then for a second factor unless ADMIN_MFA is off."""

    title = _("Set your password")
    template_name = "admin/staff/invitation.html"
    form_class = SetPasswordForm
    invited: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        invited = invitations.user_of(kwargs["token"])
        if invited is None or site_for(invited) is not site_of(request):
            return self._over()
        self.invited = invited
        return super().dispatch(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"user": self.invited}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(invited=self.invited, **kwargs)

    def form_valid(self, form: SetPasswordForm) -> HttpResponse:
        actor = Actor(self.invited.get_username(), client_address(self.request), self.invited.pk)
        token = context.actor.set(lambda: actor)
        try:
            invitations.accept(self.kwargs["token"], form)
        except invitations.InvitationOver:
            return self._over()
        finally:
            context.actor.reset(token)
        return perform_password_login(self.request, {}, Login(user=self.invited))

    def _over(self) -> HttpResponse:
        """Return 404, the same for every link that does not work."""
        context = super().get_context_data(
            form=None, title=gettext("This link does not work"), days=invitations.VALID.days
        )
        return render(self.request, "admin/staff/invitation_over.html", context, status=404)
