"""The table of a merchant's fees, edited at once."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from payments import sourcetypes
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.formats import NOTHING, money, shown_rate
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm, with_stored
from payments.domain.merchants import terms
from payments.domain.merchants.merchants import MODES
from payments.ledger.fees import DISPUTE, BadRate, Rate, rate_of
from payments.models import AMOUNT_MAX, FeeTemplate, Merchant
from payments.money import CURRENCIES, DEFAULT_CURRENCY, KNOWN_CURRENCIES, parse_amount, plain_amount

MAY_CHANGE = "payments.change_merchant"
EMPTY_ROWS = 4
# One of each type in some currencies; more would be a mistake.
ROWS_MAX = 300
COLUMNS = {"type": "Type", "currency": "Currency", "percent": "Share in per cent", "fixed": "Fixed amount"}
EVERY_TYPE = "every"
TYPES = [("", "–"), (EVERY_TYPE, "every type without a row")]
TYPES += [(kind.name, kind.label) for kind in sourcetypes.SOURCE_TYPES]
TYPES += [(DISPUTE, "Dispute (fixed amount)")]
PERCENT = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,2})?")
Row = Mapping[str, str]
Fees = dict[tuple[str, str], Rate]


class FeeTable(forms.Widget):
    """A table with a row for each fee, and empty rows for more."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        rows = [*(value or ()), *[{"currency": DEFAULT_CURRENCY}] * EMPTY_ROWS]
        heads = format_html_join("", '<th scope="col">{}</th>', ((label,) for label in COLUMNS.values()))
        body = format_html_join("", "<tr>{}</tr>", ((self._cells(name, row),) for row in rows))
        return format_html('<table class="fee-table"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>', heads, body)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[Row]:
        columns = [data.getlist(f"{name}_{column}") for column in COLUMNS]
        return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=False)]

    def _cells(self, name: str, row: Row) -> SafeString:
        currencies = [(code, code) for code in sorted(CURRENCIES)]
        widgets: dict[str, forms.Widget] = {
            "type": forms.Select(choices=with_stored(TYPES, row.get("type"))),
            "currency": forms.Select(choices=with_stored(currencies, row.get("currency"))),
            "percent": forms.TextInput({"inputmode": "decimal", "size": 6, "placeholder": "%"}),
            "fixed": forms.TextInput({"inputmode": "decimal", "size": 10, "placeholder": "0.00"}),
        }
        cells = (
            (widget.render(f"{name}_{column}", row.get(column, ""), {"aria-label": COLUMNS[column]}),)
            for column, widget in widgets.items()
        )
        return format_html_join("", "<td>{}</td>", cells)


class FeesField(forms.Field):
    """The fees by type and currency; a row without a type, or without both numbers, is none."""

    widget = FeeTable

    def clean(self, value: list[Row]) -> Fees:
        if len(value) > ROWS_MAX:
            raise forms.ValidationError(f"There are more than {ROWS_MAX} rows.", "invalid")
        filled = (row for row in value if row["type"] and (row["percent"].strip() or row["fixed"].strip()))
        given = [(row["type"], row["currency"], self._rate(row)) for row in filled]
        fees: Fees = {}
        for source_type, currency, rate in given:
            if source_type != EVERY_TYPE and (source_type, currency) in fees:
                raise forms.ValidationError(f"There are two rows for {source_type} in {currency}.", "invalid")
            fees[source_type, currency] = rate
        for currency in [currency for name, currency in fees if name == EVERY_TYPE]:
            rate = fees.pop((EVERY_TYPE, currency))
            fees = {(name, currency): rate for name in sourcetypes.NAMES} | fees
        return fees

    def _rate(self, row: Row) -> Rate:
        if row["currency"] not in KNOWN_CURRENCIES:
            raise forms.ValidationError("Choose a type and a currency from the lists.", "invalid")
        where, percent = f"{row['type']} in {row['currency']}", row["percent"].strip() or "0"
        if not PERCENT.fullmatch(percent):
            raise forms.ValidationError(f"{where}: the share is a number such as 3.5.", "invalid")
        try:
            rate = Rate(int(Decimal(percent) * 100), parse_amount(row["fixed"].strip() or "0", row["currency"]))
        except BadRate:
            most = money(AMOUNT_MAX, row["currency"])
            text = f"{where}: the share must be at most 100, and the fixed amount at most {most}."
            raise forms.ValidationError(text, "invalid") from None
        except ValueError as fault:
            raise forms.ValidationError(f"{where}: the fixed amount is {fault}.", "invalid") from None
        if row["type"] == DISPUTE and rate.basis_points:
            raise forms.ValidationError(f"{where}: its fee is a fixed amount, not a share.", "invalid")
        return rate


class FeesForm(ReasonForm):
    template = forms.ModelChoiceField(
        FeeTemplate.objects.order_by("title"),
        required=False,
        empty_label="none: the table below",
        help_text="Its fees become all fees of the merchant, in place of the table.",
    )
    fees = FeesField(
        help_text="Clear both numbers of a row to remove its fee. A type without a row costs nothing. The fee "
        "of a dispute is given back when it is won."
    )


class SetFees(Action):
    name, label = "set_fees", "Set the fees"
    permission = MAY_CHANGE
    refusals = (terms.BadTerms,)

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        return FeesForm(data, initial={"fees": list(rows_of(merchant.rates))})

    def facts(self, merchant: Merchant) -> Facts:
        yield "Merchant", merchant.title
        missing = types_without_fee(merchant)
        if missing:
            yield "Costs nothing today", ", ".join(missing)
        yield "What happens", "Charges made from now on cost this; those made before keep their rate."

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        template = cleaned["template"]
        changed = terms.set_fees(merchant, fees_of(template.rates) if template else cleaned["fees"])
        text = ", ".join(f"{source_type} in {currency}" for source_type, currency in changed)
        return f"From now on there are other fees for {text}." if text else "Nothing was changed."


def types_without_fee(merchant: Merchant) -> list[str]:
    """Return the types that the merchant takes in live mode and that cost nothing in any currency."""
    switches = merchant.payment_method_settings
    taken = (name for name in sourcetypes.NAMES if terms.is_enabled(switches, name, MODES["live"]))
    return [sourcetypes.BY_NAME[name].label for name in taken if not merchant.rates.get(name)]


def fees_of(rates: Mapping[str, Any]) -> Fees:
    """Return the fees of `rates`, as a merchant or a template has them."""
    pairs = [(name, currency) for name, by_currency in rates.items() for currency in by_currency]
    return {pair: rate_of(rates, *pair) for pair in pairs}


def fee_table(rates: Mapping[str, Any]) -> SafeString | str:
    """Return the fees of `rates`, as a merchant or a template has them: each rate once, with its types."""
    types: dict[str, list[str]] = {}
    for (name, currency), rate in fees_of(rates).items():
        types.setdefault(shown_rate(rate, currency), []).append(name)
    rows = format_html_join(
        "",
        '<tr><th scope="row">{}</th> <td class="number">{}</td></tr>',
        (
            (", ".join(sourcetypes.shown(name).label for name in sourcetypes.named_once(names)), rate)
            for rate, names in types.items()
        ),
    )
    return format_html('<table class="money">{}</table>', rows) if types else NOTHING


def fee_summary(rates: Mapping[str, Any]) -> str:
    """Return the first fee of `rates`, that of cards if there is one, and how many others there are."""
    fees = sorted(fees_of(rates).items(), key=lambda fee: fee[0] != (sourcetypes.CARD, DEFAULT_CURRENCY))
    if not fees:
        return NOTHING
    (name, currency), rate = fees[0]
    more = f", and {len(fees) - 1:,} more" if len(fees) > 1 else ""
    return f"{sourcetypes.shown(name).label} {shown_rate(rate, currency)}{more}"


def rows_of(rates: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of the table for `rates`, as a merchant has them."""
    for source_type, by_currency in rates.items():
        for currency in by_currency:
            rate = rate_of(rates, source_type, currency)
            percent = f"{Decimal(rate.basis_points) / 100:.2f}"
            fixed = plain_amount(rate.fixed, currency)
            yield {"type": source_type, "currency": currency, "percent": percent, "fixed": fixed}
