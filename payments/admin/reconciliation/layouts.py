"""Layouts of files of any columns: their versions, and how one is made from an example, before anything is saved."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.utils.text import capfirst

from payments.admin.approvals.forms import submitted
from payments.admin.framework.actions import DECISION, Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import chip, column, lines, link, money, provider_title
from payments.admin.framework.object_actions import ActionButton, Buttons, Facts, address_of
from payments.admin.framework.reason_form import ReasonForm, TextForm
from payments.domain.operators.four_eyes import Refused
from payments.domain.reconciliation import file_layouts, uploads
from payments.domain.reconciliation.columns.amounts import DATES
from payments.domain.reconciliation.columns.examples import Sample, preview, sample_of
from payments.domain.reconciliation.columns.layout import ENCODINGS, ColumnLayout, Meaning, Role, Signs, folded
from payments.domain.reconciliation.columns.proposal import propose
from payments.domain.reconciliation.columns.readers import named_as
from payments.domain.reconciliation.files import BadReport
from payments.inbox.decisions import MAY_DECIDE
from payments.models import ApprovalRequest, FileLayout, ReconciliationRun, ReportLine
from payments.money import CURRENCIES
from payments.providers.registry import PROVIDER_NAMES

ASK = "ask"
SHOWN_LINES, SHOWN_RUNS = 10, 20
PLAIN = ("dates", "decimal", "encoding", "currency")
DECIMALS = {".": "point: 1,234.56", ",": "comma: 1.234,56"}


def account_choices() -> list[tuple[str, str]]:
    """Return those whose files are read, as choices."""
    return [(name, provider_title(name)) for name in file_layouts.accounts()]


class ExampleForm(TextForm, forms.Form):
    """The first step: an example of the files, whose first rows the second one has. It is not stored."""

    account = forms.ChoiceField(label="Provider or bank account", choices=account_choices)
    example = forms.FileField(
        label="Example (CSV or Xlsx)", help_text=f"At most {filesizeformat(uploads.MAX_BYTES)}. It is not stored."
    )
    sheet = forms.CharField(required=False, max_length=31, help_text="Of an Xlsx file. Empty: the first one.")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if example := cleaned.get("example"):
            try:
                cleaned["sample"] = sample_of(example.read(), cleaned.get("sheet", ""))
            except BadReport as fault:
                self.add_error("example", f"It cannot be read: {fault}.")
        return cleaned


class LayoutForm(ReasonForm):
    """The second step: each setting, as proposed, or of the version in force where its columns are there."""

    account = forms.ChoiceField(widget=forms.HiddenInput, choices=account_choices)
    sample = forms.CharField(widget=forms.HiddenInput)
    kinds = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=f"What words of the kind mean, one a line: “payment = charge”. {', '.join(Meaning)}.",
    )
    dates = forms.ChoiceField(choices=[*DATES.items()])
    decimal = forms.ChoiceField(label="Decimals", choices=[*DECIMALS.items()])
    signs = forms.ChoiceField(choices=[(each.value, each.label) for each in Signs])
    currency = forms.ChoiceField(
        required=False,
        label="Currency of all rows",
        choices=[("", "none"), *((each, each) for each in sorted(CURRENCIES))],
    )
    encoding = forms.ChoiceField(choices=[(each, each) for each in ENCODINGS], help_text="Of a CSV file.")
    skipped = forms.CharField(
        required=False,
        label="Rows left out",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Those that begin with it, or have a cell with it alone, such as “total”; one a line.",
    )

    def __init__(self, data: Any, account: str, sample: Sample) -> None:
        self.tried_on, self.proposal = sample, propose(sample, is_bank=account not in PROVIDER_NAMES)
        names, self.numbers = _columns_of(sample, self.proposal.layout)
        start = _start(account, self.proposal.layout, {*names, *self.numbers})
        self.layout: ColumnLayout | None = None if data else start
        given = {"account": account, "sample": sample.written(), **_typed(start)}
        super().__init__(data, initial=given)
        choices = [("", "none"), *((name, name) for name in names)]
        choices += [(number, f"column {number}, of a file without a header") for number in self.numbers]
        columns = {
            f"column_{role}": forms.ChoiceField(required=False, label=capfirst(role.label), choices=choices)
            for role in Role
        }
        self.fields = {**columns, **self.fields}
        # A preview needs none.
        self.fields["reason"].required = False

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        columns = {role: name for role in Role if (name := cleaned[f"column_{role}"])}
        skipped = tuple(filter(None, map(folded, cleaned["skipped"].splitlines())))
        given = {name: cleaned[name] for name in PLAIN} | {"signs": Signs(cleaned["signs"]), "skipped": skipped}
        is_numbered = bool({*columns.values()} & {*self.numbers})
        try:
            kinds = _kinds(cleaned["kinds"])
            layout = ColumnLayout(columns, kinds, has_header=not is_numbered, sheet=self.tried_on.sheet, **given)
            layout.check(is_bank=cleaned["account"] not in PROVIDER_NAMES)
        except ValueError as fault:
            raise forms.ValidationError(str(fault)) from None
        self.layout = layout
        return cleaned


class MakeLayout(Action):
    """Makes the first version or the next one, in two steps. Nothing is stored before another person is asked."""

    name, label = "make_layout", "Make a layout"
    permission = MAY_DECIDE[ApprovalRequest.Kind.FILE_LAYOUT]
    is_new = is_for_all_merchants = True
    new_name = "make"
    file_bytes, file_seconds, most_files = uploads.MAX_BYTES, 120, 3
    too_large = "The file is larger than {size}: its first rows are enough."
    refusals = (Refused, ValidationError, file_layouts.Overtaken)
    what_happens = "You see how kaha reads the first rows, and what it proposes. Nothing is stored by that."

    def find(self, page: Any, request: HttpRequest, pk: Any) -> FileLayout | None:
        """Return the version in force of the account that the address names."""
        return file_layouts.in_force(_known(request.GET.get("account")))

    def buttons(self, page: Any, request: HttpRequest, row: FileLayout) -> list[ActionButton]:
        address = f"{address_of(page, self.new_name)}?account={row.provider}"
        return [ActionButton("Change the layout", address)] if self.is_allowed(page, request) else []

    def question(self, row: FileLayout | None) -> str:
        return f"Change the layout of {provider_title(row.provider)}" if row else str(self.label)

    def form_for(self, row: FileLayout | None, data: Any) -> forms.Form:
        try:
            if data and "sample" in data:
                return LayoutForm(data, _known(data.get("account")), Sample.read(data["sample"]))
        except BadSignature:
            data = None
        return ExampleForm(data, initial={"account": row.provider if row else ""})

    def field_of(self, refusal: Exception, form: forms.Form) -> str | None:
        return "reason" if isinstance(refusal, ValidationError) else None

    def is_confirmed(self, request: HttpRequest, form: forms.Form) -> bool:
        return isinstance(form, LayoutForm) and request.POST.get(DECISION) == ASK

    def shown(self, page: Any, request: HttpRequest, row: Any, form: forms.Form, status: int = 200) -> HttpResponse:
        """Return the page of the first step, or of the second one where the first is done."""
        if isinstance(form, ExampleForm) and form.is_bound and form.is_valid():
            form = LayoutForm(None, form.cleaned_data["account"], form.cleaned_data["sample"])
        return super().shown(page, request, row, form, status)

    def choices(self, row: Any, form: forms.Form, operator: Any) -> Buttons:
        if isinstance(form, ExampleForm):
            return [("look", "Continue")]
        return [("preview", "Preview"), (ASK, "Ask for approval")]

    def seen(self, page: Any, request: HttpRequest, row: Any, form: forms.Form) -> dict[str, Any]:
        seen = super().seen(page, request, row, form)
        if not isinstance(form, LayoutForm):
            return seen
        account = _known(form["account"].value())
        seen |= {"facts": _account_facts(account), "notice": "Nothing is in force before another operator approves it."}
        if form.layout is None:
            return seen
        made = preview(form.tried_on, file_layouts.reader_of(account, form.layout.as_json()))
        entries = [(line, *_in_words(line.kind, line.amount, line.currency)) for line in made.lines[:SHOWN_LINES]]
        sums = [_in_words(kind, amount, currency) for (kind, currency), amount in made.sums.items()]
        return seen | {"preview": made, "entries": entries, "sums": sums}

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        account, settings = cleaned["account"], cleaned["form"].layout.as_json()
        newest = file_layouts.in_force(account)
        before = {"account": account, "version": newest.version, "settings": newest.settings} if newest else {}
        after = {"account": account, "version": (newest.version if newest else 0) + 1, "settings": settings}
        return submitted(None, ApprovalRequest.Kind.FILE_LAYOUT, cleaned, after, before)


@admin.register(FileLayout)
class FileLayoutAdmin(BaseAdmin):
    # A file is of all merchants of a provider's account, or of our bank account.
    merchant_lookup = None
    row_actions = (MakeLayout(),)
    list_display = ("account", "version", "state", "made_by", "approved_by", "created")
    file_columns = ("created", "account", "version", "state", "made_by", "approved_by")
    list_select_related = ("request__proposed_by", "request__decided_by")
    search_fields = ("provider",)
    search_help_text = "A part of the account's name."
    fieldsets = (
        (None, {"fields": ("account", "version", "made_by", "approved_by", "created", "request_link")}),
        ("Settings", {"fields": ("settings_in_words",)}),
        ("What it read", {"fields": ("read",)}),
    )
    head_columns = ("state",)
    account = column("Account", lambda layout: provider_title(layout.provider))
    state = column("State", lambda row: chip("replaced", "quiet") if row.is_replaced else chip("in force", "good"))
    made_by = column("Made by", lambda layout: layout.request.proposed_by)
    approved_by = column("Approved by", lambda layout: layout.request.decided_by)
    settings_in_words = column("Each", lambda layout: lines(f"{name}: {value}" for name, value in _facts(layout)))
    read = column(
        "Runs",
        lambda layout: lines(
            link(ReconciliationRun, run.pk, run.file) for run in layout.runs.order_by("-pk")[:SHOWN_RUNS]
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        newer = FileLayout.objects.filter(provider=OuterRef("provider"), version__gt=OuterRef("version"))
        return super().get_queryset(request).annotate(is_replaced=Exists(newer))


def _known(account: str | None) -> str:
    """Return the name of an account; "" for any other text, which is not looked up."""
    return account if account in file_layouts.accounts() else ""


def _facts(layout: FileLayout) -> Facts:
    return ColumnLayout.from_json(layout.settings).facts()


def _account_facts(account: str) -> Facts:
    newest = file_layouts.in_force(account)
    yield "Account", provider_title(account)
    yield "In force", f"version {newest.version}" if newest else "no layout yet"


def _columns_of(sample: Sample, layout: ColumnLayout) -> tuple[list[str], list[str]]:
    """Return the names of the columns, by the row that has most of the layout's, and their numbers."""
    wanted = {*layout.columns.values()} if layout.has_header else set()
    rows = [[*map(named_as, row.cells)] for row in sample.rows]
    header = max(rows, key=lambda cells: len(wanted & {*cells}), default=[]) if wanted else []
    width = max(map(len, rows), default=0)
    return [name for name in header if name and header.count(name) == 1], [str(n) for n in range(1, width + 1)]


def _start(account: str, proposed: ColumnLayout, names: set[str]) -> ColumnLayout:
    """Return the version in force, where its columns are there, else the proposed layout."""
    newest = file_layouts.in_force(account)
    known = ColumnLayout.from_json(newest.settings) if newest else proposed
    return known if names.issuperset(known.columns.values()) else proposed


def _typed(layout: ColumnLayout) -> dict[str, Any]:
    """Return a layout as the form has it."""
    kinds = "\n".join(f"{word} = {meaning}" for word, meaning in layout.kinds.items())
    typed = {name: getattr(layout, name) for name in (*PLAIN, "signs")}
    columns = {f"column_{role}": name for role, name in layout.columns.items()}
    return {**columns, **typed, "kinds": kinds, "skipped": "\n".join(layout.skipped)}


def _kinds(text: str) -> dict[str, Meaning]:
    """Return what words mean; raise ValueError."""
    kinds = {}
    for line in filter(str.strip, text.splitlines()):
        word, _, meaning = map(str.strip, line.rpartition("="))
        if not word or meaning.lower() not in [*Meaning]:
            raise ValueError(f"Write “word = meaning”, with one of {', '.join(Meaning)}, not “{line}”.")
        kinds[folded(word)] = Meaning(meaning.lower())
    return kinds


def _in_words(kind: str, amount: int, currency: str) -> tuple[str, str]:
    return ReportLine.Kind(kind).label, money(amount, currency)
