"""What operators choose for themselves: the time zone in which the admin shows moments."""

from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.generic import FormView

from payments import clock
from payments.staff.models import OperatorProfile
from payments.staff.sign_in.views import PersonalPage
from payments.web.middleware import GetResponse

TIME_ZONE = "time_zone"


def _zones() -> list[tuple[str, str]]:
    own = (("", f"As the installation: {settings.DISPLAY_TIME_ZONE}"),)
    return [*own, *((name, name.replace("_", " ")) for name in sorted(available_timezones()))]


class PreferencesForm(forms.Form):
    time_zone = forms.ChoiceField(choices=_zones, required=False, label="Time zone")


class PreferencesView(PersonalPage, FormView):
    """Asks the signed-in operator for a time zone."""

    title = "Preferences"
    template_name = "admin/staff/preferences.html"
    form_class = PreferencesForm

    def get_initial(self) -> dict[str, Any]:
        return {"time_zone": _chosen_by(self.reader)}

    def form_valid(self, form: PreferencesForm) -> HttpResponse:
        zone = form.cleaned_data["time_zone"]
        OperatorProfile.objects.update_or_create(user=self.reader, defaults={"time_zone": zone})
        self.request.session[TIME_ZONE] = zone
        messages.success(self.request, "Saved.")
        return super().form_valid(form)


def _chosen_by(user: User) -> str:
    return _known(OperatorProfile.objects.get_or_create(user=user)[0].time_zone)


def _known(zone: str | None) -> str:
    """Return a chosen time zone, or "" where the IANA database does not have it any more."""
    try:
        return ZoneInfo(zone).key if zone else ""
    except (ZoneInfoNotFoundError, ValueError):
        return ""


@receiver(user_logged_in)
def note_time_zone(request: HttpRequest, user: User, **_: Any) -> None:
    """Store the operator's time zone in the session, so that no page has to read it."""
    request.session[TIME_ZONE] = _chosen_by(user)
    OperatorProfile.objects.filter(user=user).update(last_seen_at=clock.now())


class DisplayTimeZone:
    """Answers pages in the operator's time zone, or in DISPLAY_TIME_ZONE."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        session: Any = request.session
        with timezone.override(_known(session.get(TIME_ZONE)) or settings.DISPLAY_TIME_ZONE):
            return self.get_response(request)
