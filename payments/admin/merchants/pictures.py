"""The logo and the icon of a merchant: uploaded, shown and removed by its operators and its own people."""

import base64
from typing import Any

from django import forms
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.actions import Action, Done
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.merchants.fees import MAY_CHANGE
from payments.domain.merchants import pictures
from payments.domain.merchants.pictures import SIZE_MAX, TOO_LARGE, BadPicture
from payments.models import BrandPicture, Merchant

NAMES = {"logo": _("Logo"), "icon": _("Icon")}
SHOWN = '<img class="brand-picture" src="data:image/png;base64,{}" alt="{}">'


class PictureForm(ReasonForm):
    picture = forms.ChoiceField(
        label=_("Which"),
        choices=list(NAMES.items()),
        help_text=_("Pages show the logo. The icon, a small square, stands there where the logo is not shown."),
    )
    file = forms.FileField(
        label=_("File"),
        required=False,
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp", "class": "picture-file"}),
        help_text=format_lazy(
            _("A PNG, JPEG or WebP of at most {size}. It becomes a PNG of at most 512 pixels; nothing else is kept."),
            size=f"{SIZE_MAX // 1024} KB",
        ),
    )
    remove = forms.BooleanField(label=_("Remove the one that is there"), required=False)

    class Media:
        js = (forms.Script("payments/picture.js", defer=True),)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and bool(cleaned["file"]) == cleaned.get("remove", False):
            self.add_error("file", _("Choose a file, or tick that the picture is removed, one of the two."))
        return cleaned


class SetPicture(Action):
    name, label, button = "set_picture", _("Logo and icon"), _("Save")
    permission = MAY_CHANGE
    for_merchants = True
    form = PictureForm
    file_bytes, file_seconds = SIZE_MAX, 30
    too_large = TOO_LARGE
    refusals = (BadPicture,)
    what_happens = _("Payers see it at once, but on pages of checkouts that a program gave a branding of their own.")

    def form_for(self, row: Merchant, data: Any) -> forms.Form:
        form = super().form_for(row, data)
        if not (row.logo or row.icon):
            del form.fields["remove"]
        return form

    def about(self, merchant: Merchant) -> Facts:
        yield from super().about(merchant)
        yield from pictures_of(merchant)

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        file = cleaned["file"]
        pictures.set_picture(merchant, cleaned["picture"], file.read() if file else None)
        return gettext("Payers see it from now on.") if file else gettext("It is removed.")


def pictures_of(merchant: Merchant) -> Facts:
    """Yield the pictures in the page itself: it may be on another host than that of payers' pages."""
    contents = dict(BrandPicture.objects.filter(merchant=merchant).values_list("id", "content"))
    for name, label in NAMES.items():
        if content := contents.get(getattr(merchant, name)):
            yield label, format_html(SHOWN, base64.b64encode(content).decode(), label)
