"""Forms that ask for a reason."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.forms.renderers import DjangoTemplates
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import clock, context
from payments.db.texts.writes import no_card_number, one_line
from payments.ids import moment_of, new_id
from payments.models.operators.reasons import NOTE_MAX_LENGTH, free_of_secrets
from payments.sensitive_data.card_numbers import holds_card_number, holds_taken_card
from payments.sensitive_data.redaction import redact

REASON_HELP = _("Such as a ticket. No card numbers, no keys. The audit log keeps it.")


class SecretsHidden(forms.Textarea):
    """A text area that shows a refused text again without its secrets."""

    def format_value(self, value: Any) -> str:
        return redact(value or "")


class HiddenNumberInput(forms.TextInput):
    """An input for a card number that never shows what was typed and asks browsers not to remember it."""

    def __init__(self) -> None:
        super().__init__(attrs={"autocomplete": "off", "inputmode": "numeric", "class": "vTextField"})

    def format_value(self, value: Any) -> None:
        return None


class HiddenText(forms.HiddenInput):
    """A hidden input that no card number is written back into."""

    def format_value(self, value: Any) -> Any:
        return super().format_value(_without_card_numbers(value, holds_card_number))


class Typed(forms.BoundField):
    """What a field shows: no card number that was typed is written back into its page."""

    def value(self) -> Any:
        typed, is_refused = super().value(), self.name in self.form.errors
        # The ID of a row is signed, and no text. The text area of a reason leaves the rest.
        is_signed = isinstance(self.field, RowIdField) and not is_refused
        if is_signed or isinstance(self.field.widget, SecretsHidden):
            return typed
        # What is stored already, or will be, stays: who saves the form would else wipe it out.
        return _without_card_numbers(typed, holds_card_number if is_refused else holds_taken_card)

    def as_hidden(self, attrs: Any = None, **named: Any) -> SafeString:
        """Return the hidden input; one of what the page has shown is filled with what was sent, whatever that is."""
        widget = HiddenText() if named.get("only_initial") else self.field.hidden_widget()
        return self.as_widget(widget, attrs, **named)


class Renderer(DjangoTemplates):
    """Renders each form of both sites."""

    bound_field_class = Typed


def _without_card_numbers(typed: Any, holds: Callable[[str], bool]) -> Any:
    match typed:
        case str():
            return "" if holds(typed) else typed
        case list():
            return [_without_card_numbers(each, holds) for each in typed]
        case dict():
            return {name: _without_card_numbers(each, holds) for name, each in typed.items()}
    return typed


UNCHECKED = (HiddenNumberInput, forms.PasswordInput)


def with_stored(choices: Any, *stored: Any) -> list[Any]:
    """Return `choices`, and after them each `stored` value that is not offered any more."""
    offered = list(choices)
    gone = dict.fromkeys(value for value in stored if value and value not in dict(offered))
    return [*offered, *((value, gettext("{value} (no longer offered)").format(value=value)) for value in gone)]


def offer_stored(form: forms.BaseForm) -> None:
    """Have each choice of `form` offer the value that it was opened with, which a browser would else replace."""
    for name, field in form.fields.items():
        if isinstance(field, forms.ChoiceField) and not isinstance(field, forms.ModelChoiceField):
            value = form.get_initial_for_field(field, name)
            field.choices = with_stored(field.choices, *(value if isinstance(value, list) else [value]))


def reason_field(help_text: Any = REASON_HELP) -> forms.CharField:
    """Return a field for the reason, which refuses secrets and does not show them again."""
    widget = SecretsHidden(attrs={"rows": 3, "class": "vLargeTextField"})
    validators = [free_of_secrets]
    return forms.CharField(
        label=_("Why"), max_length=NOTE_MAX_LENGTH, validators=validators, widget=widget, help_text=help_text
    )


class TextForm(forms.BaseForm):
    """A form whose texts hold no card number, but in inputs for secrets, and are of one line, but in text areas."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **{"label_suffix": ""} | named)

    def full_clean(self) -> None:
        for field in self.fields.values():
            if isinstance(field, forms.CharField) and not isinstance(field.widget, UNCHECKED):
                field.validators += [no_card_number, *([] if isinstance(field.widget, forms.Textarea) else [one_line])]
        super().full_clean()


class ReasonForm(TextForm, forms.Form):
    """A form that ends with the reason."""

    reason = reason_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"] = self.fields.pop("reason")
        offer_stored(self)


class RowIdField(forms.UUIDField):
    """The ID of what a form creates, so that it creates one even if it is sent twice.

    It is signed for the person who opened the form, because the browser that sends it back may choose no ID.
    """

    default_error_messages = {
        "invalid": _("This form was opened by somebody else, or too long ago. Open it again."),
        "required": _("This form is not complete. Open it again."),
    }

    def __init__(self) -> None:
        super().__init__(initial=new_id, widget=forms.HiddenInput)

    def prepare_value(self, value: Any) -> Any:
        """Return a new ID signed. What a browser has sent is text, and stays as it is."""
        return _signer().sign(value.hex) if isinstance(value, UUID) else value

    def to_python(self, value: Any) -> Any:
        try:
            row_id = super().to_python(_signer().unsign(value) if value else None)
        except BadSignature:
            raise forms.ValidationError(self.error_messages["invalid"]) from None
        # Nobody is signed in for longer.
        if row_id and moment_of(row_id) < clock.now() - timedelta(hours=settings.SIGNED_IN_HOURS):
            raise forms.ValidationError(self.error_messages["invalid"])
        return row_id


def _signer() -> Signer:
    actor = context.actor.get()
    return Signer(salt=f"kaha.row_id.{actor().operator_id if actor else None}")


class OnceForm(ReasonForm):
    """A form with the ID of the row that it creates."""

    row_id = RowIdField()
