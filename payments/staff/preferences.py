"""What people choose for themselves: the time zone of pages, and the language of the merchants' site."""

from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.generic import FormView

from payments import clock
from payments.pages.responses import language_of
from payments.staff.models import OperatorProfile
from payments.staff.sign_in.views import PersonalPage
from payments.staff.sites import site_of
from payments.web.environ import GetResponse

TIME_ZONE, LANGUAGE = "time_zone", "language"


def _zones() -> list[tuple[str, str]]:
    own = (("", f"As the installation: {settings.DISPLAY_TIME_ZONE}"),)
    return [*own, *((name, name.replace("_", " ")) for name in sorted(available_timezones()))]


class PreferencesForm(forms.Form):
    time_zone = forms.ChoiceField(choices=_zones, required=False, label=gettext_lazy("Time zone"))


class MerchantPreferencesForm(PreferencesForm):
    language = forms.ChoiceField(choices=settings.LANGUAGES, label=gettext_lazy("Language"))


class PreferencesView(PersonalPage, FormView):
    """Asks the signed-in person for a time zone, and a merchant's person for a language too."""

    title = gettext_lazy("Preferences")
    template_name = "admin/staff/preferences.html"

    def get_form_class(self) -> type[PreferencesForm]:
        return PreferencesForm if site_of(self.request).is_for_operators else MerchantPreferencesForm

    def get_initial(self) -> dict[str, Any]:
        return _chosen_by(self.reader) | {LANGUAGE: translation.get_language()}

    def form_valid(self, form: PreferencesForm) -> HttpResponse:
        OperatorProfile.objects.update_or_create(user=self.reader, defaults=form.cleaned_data)
        self.request.session.update(form.cleaned_data)
        with translation.override(form.cleaned_data.get(LANGUAGE, settings.LANGUAGE_CODE)):
            messages.success(self.request, _("Saved."))
        return super().form_valid(form)


def _chosen_by(user: User) -> dict[str, str]:
    profile = OperatorProfile.objects.get_or_create(user=user)[0]
    return {TIME_ZONE: _known(profile.time_zone), LANGUAGE: profile.language}


def _known(zone: str | None) -> str:
    """Return a chosen time zone, or "" where the IANA database does not have it any more."""
    try:
        return ZoneInfo(zone).key if zone else ""
    except (ZoneInfoNotFoundError, ValueError):
        return ""


@receiver(user_logged_in)
def note_preferences(request: HttpRequest, user: User, **_: Any) -> None:
    """Store what the person chose in the session, so that no page has to read it."""
    request.session.update(_chosen_by(user))
    OperatorProfile.objects.filter(user=user).update(last_seen_at=clock.now())


class DisplayPreferences:
    """Answers pages in the person's time zone, or in DISPLAY_TIME_ZONE; the merchants' site in the person's language.

    Who chose no language reads that of the browser. Everything else is in English, but for payers' pages.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        session: Any = request.session
        language = settings.LANGUAGE_CODE
        if not site_of(request).is_for_operators:
            # 0.9.0 kept English as "en-gb".
            chosen = session.get(LANGUAGE, "").partition("-")[0]
            language = chosen if chosen in dict(settings.LANGUAGES) else language_of(request)
        zone = _known(session.get(TIME_ZONE)) or settings.DISPLAY_TIME_ZONE
        with timezone.override(zone), translation.override(language):
            return self.get_response(request)
