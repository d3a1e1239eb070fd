"""What every list offers: saved views, and its rows as a file."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone, translation
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from payments import clock
from payments.admin.lists.file import (
    OTHER_DOWNLOADS,
    ROWS_AT_ONCE,
    Cells,
    Lines,
    cells_of,
    check_export,
    download,
    list_lines,
)
from payments.admin.lists.mode import PARAMETER, mode_of, names_one_object
from payments.admin.lists.schedules import request_now, set_schedule
from payments.db.texts.writes import storable
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.bulkheads import take_download_place
from payments.domain.operators import file_schedules
from payments.models import FileSchedule, MerchantAccess, SavedView
from payments.models.merchants.merchant_access import Limit, membership_of
from payments.models.operators.saved_view import QUERY_MAX_LENGTH, VIEW_NAME_MAX_LENGTH
from payments.sensitive_data.card_numbers import holds_taken_card

MOST_VIEWS = 30
MOST_CHOSEN = 1_000
MOST_NAMED = 50
MAY_EXPORT = "payments.export_list"
MODE_COLUMN = "mode"


class ListPage(admin.ModelAdmin):
    """A ModelAdmin whose list operators make their own and take along.

    `sum_of` names the amount of a row and its currency. A file has the `file_columns` where the list shows others, or
    `file_cells`, by their heads, where columns are not what it is for.
    """

    # One of the sites for people, of which Django's type knows nothing.
    admin_site: Any
    sum_of: tuple[str, str] | None = None
    file_columns: Sequence[str] = ()
    file_cells: Cells | None = None
    is_exported = True
    # What one row and many are called, where the model has another name.
    called: tuple[Any, Any] | None = None
    # What one row and many are counted as, where that is another name still.
    counted: tuple[Any, Any] | None = None

    @property
    def words(self) -> tuple[Any, Any]:
        """What one row and many are called."""
        return self.called or (gettext(str(self.opts.verbose_name)), gettext(str(self.opts.verbose_name_plural)))

    def complete(self, rows: Any) -> None:
        """Load what the columns of `rows` need beside the rows, for all of them at once."""

    def mode_lookup(self) -> str | None:
        """Return the lookup of the mode of this list's rows; None where they have none."""
        raise NotImplementedError

    def shown_columns(self, request: HttpRequest) -> list[str]:
        """Return the columns of the list. The mode is one where a search finds rows of both."""
        one_mode = self.mode_lookup() and not names_one_object(request)
        return [name for name in map(str, self.list_display) if not (one_mode and name == MODE_COLUMN)]

    def get_sortable_by(self, request: HttpRequest) -> list[Any]:
        """Return the columns by which an index sorts, on keyset pages."""
        if tuple(self.get_ordering(request)) != ("-pk",):
            return []
        return [shown for shown in self.get_list_display(request) if getattr(shown, "admin_order_field", None)]

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        views = {"csv": self.export_list, "saveview": self.save_filters, "dropview": self.delete_saved_view}
        ours = [
            path(f"{word}/", self.admin_site.admin_view(view), name=f"{name}_{word}") for word, view in views.items()
        ]
        return [*ours, *super().get_urls()]

    @method_decorator(require_POST)
    def export_list(self, request: HttpRequest) -> HttpResponseBase:
        """Stream the rows that the list shows at this address, and record that."""
        if not (self.has_view_permission(request) and self.may_export(request)):
            raise PermissionDenied
        # The audit log has the filters, and an address has no card number in it.
        check_export(request.GET)
        try:
            changelist: Any = self.get_changelist_instance(request)
        except IncorrectLookupParameters as error:
            raise Http404 from error
        return self.file_of(request, changelist.batches(ROWS_AT_ONCE), request.GET.urlencode() or "all")

    def scheduled_lines(self, request: HttpRequest, most: int) -> Iterable[bytes]:
        """Return the lines of at most `most` rows that the list shows at this address, for a file on a schedule."""
        changelist: Any = self.get_changelist_instance(request)
        return self._lines(request, changelist.batches(ROWS_AT_ONCE), most)

    def may_send(self, request: HttpRequest) -> bool:
        """Return whether a person may have this list sent to them as a file."""
        return bool(self.has_view_permission(request) and self.may_export(request))

    def may_export(self, request: HttpRequest) -> bool:
        """Return whether who sees this list may take rows of it along."""
        return self.is_exported and request.user.has_perm(MAY_EXPORT)

    def export_chosen(self, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponseBase:
        """Stream the chosen `rows`, and record that; refuse more than MOST_CHOSEN."""
        check_export(request.GET)
        # Rows are read where there is a place for their file; before, as with a page of the list, few and keys alone.
        if len(keys := list(rows.values_list("pk", flat=True)[: MOST_CHOSEN + 1])) > MOST_CHOSEN:
            self.message_user(request, _("Choose at most {count}.").format(count=MOST_CHOSEN), messages.ERROR)
            return redirect(request.get_full_path())
        is_whole_list = request.POST.get("select_across") == "1"
        which = (request.GET.urlencode() or "all") if is_whole_list else self._named(keys)
        return self.file_of(request, self._batches(rows, keys), which)

    def _named(self, keys: Sequence[Any]) -> str:
        """Return the IDs of chosen rows as the audit log has them: of more than MOST_NAMED the first and the last."""
        id_of = self.cells_of_file()["id"]
        few, sign = (keys, ", ") if len(keys) <= MOST_NAMED else ((keys[0], keys[-1]), " to ")
        return f"{len(keys)} chosen: {sign.join(str(id_of(self.model(pk=key))) for key in few)}"

    def _batches(self, rows: QuerySet[Any], keys: Sequence[Any]) -> Iterator[list[Any]]:
        """Yield the rows with `keys` that are still among `rows`, at most ROWS_AT_ONCE at once."""
        for start in range(0, len(keys), ROWS_AT_ONCE):
            found = list(rows.filter(pk__in=keys[start : start + ROWS_AT_ONCE]))
            self.complete(found)
            yield found

    def file_of(self, request: HttpRequest, batches: Iterator[list[Any]], which: str) -> HttpResponseBase:
        """Stream the rows of `batches`, and record that, with `which` they are."""
        lines = self._lines(request, batches)
        with translation.override(settings.LANGUAGE_CODE):
            title = str(self.words[1])
        mode = f"{mode_of(request)}, " if self.mode_lookup() and not names_one_object(request) else ""
        return self.streamed(request, lines, title, f"list of {title}, {mode}{which}")

    def _lines(self, request: HttpRequest, batches: Iterator[list[Any]], most: int | None = None) -> Iterable[bytes]:
        limit, zone = MerchantAccess.objects.limit_of(request.user), timezone.get_current_timezone()
        return list_lines(batches, self.cells_of_file(), zone, lambda: self._may_continue(request, limit), most)

    def streamed(self, request: HttpRequest, lines: Iterable[bytes], title: str, detail: str) -> HttpResponseBase:
        """Stream `lines` as a file with a name of `title`, and record that; refuse while too many others are read."""
        give_back = take_download_place(self.admin_site.holder_of(request))
        if give_back is None:
            self.message_user(request, OTHER_DOWNLOADS, messages.ERROR)
            return redirect(self._list_address(self.filters_in(request.GET.urlencode())))
        file = Lines(lines, give_back)
        try:
            audit_log.record(Action.EXPORTED, detail=detail)
            return download(file, f"{title.replace(' ', '-').lower()}-{clock.now():%Y%m%d-%H%M}.csv")
        except BaseException:
            # A place that is not given back is lost until the process ends.
            file.close()
            raise

    def cells_of_file(self) -> Cells:
        """Return the cells of a line of a file, by their heads."""
        return self.file_cells or cells_of(self)

    def _may_continue(self, request: HttpRequest, limit: Limit) -> bool:
        """Return whether the person may still see this list, and the merchants of `limit` in it."""
        membership = membership_of(request.user)
        now = request_now(_pk_of(request), membership.merchant_id if membership else None)
        return now is not None and self.may_send(now) and MerchantAccess.objects.limit_of(now.user) == limit

    @method_decorator(require_POST)
    def save_filters(self, request: HttpRequest) -> HttpResponse:
        """Save the filters of the address under the operator's name for them; an old view of that name is replaced."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        name, query = request.POST.get("name", "").strip(), self.filters_in(request.POST.get("query", ""))
        problem = self._save(request, name, query)
        if problem:
            self.message_user(request, problem, messages.ERROR)
        else:
            self.message_user(request, _("Saved as “{name}”.").format(name=name))
        return redirect(self._list_address(query))

    @transaction.atomic
    def _save(self, request: HttpRequest, name: str, query: str) -> str | None:
        """Save the view; return why not where that is refused."""
        if not name or len(name) > VIEW_NAME_MAX_LENGTH or holds_taken_card(name):
            return _("Give the view a name of at most {count} characters.").format(count=VIEW_NAME_MAX_LENGTH)
        if len(query) > QUERY_MAX_LENGTH or holds_taken_card(query):
            return _("These filters cannot be saved.")
        # The lock makes two requests of one operator count one after the other.
        user = User.objects.select_for_update(no_key=True).get(pk=_pk_of(request))
        model = self.opts.label_lower
        if SavedView.objects.filter(user=user).exclude(model=model, name=name).count() >= MOST_VIEWS:
            return _("You have {count} views. Delete one first.").format(count=MOST_VIEWS)
        view = SavedView.objects.update_or_create(user=user, model=model, name=name, defaults={"query": query})[0]
        if problem := set_schedule(request, self, view) if request.POST.get("every") else None:
            transaction.set_rollback(True)
        return problem

    @method_decorator(require_POST)
    def delete_saved_view(self, request: HttpRequest) -> HttpResponse:
        """Delete one of the operator's own views."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            view = get_object_or_404(SavedView, pk=request.POST.get("view", ""), user=request.user)
        except ValidationError as error:
            raise Http404 from error
        with transaction.atomic():
            file_schedules.delete(FileSchedule.objects.filter(view=view))
            view.delete()
        self.message_user(request, _("Deleted the view “{name}”.").format(name=view.name))
        return redirect(self._list_address(""))

    def filters_in(self, query: str) -> str:
        """Return the parameters of a list's address without the page, the mode and the order."""
        pairs = parse_qsl(storable(query))
        return urlencode([(name, value) for name, value in pairs if name not in (PAGE_VAR, PARAMETER, "o", "e")])

    def _list_address(self, query: str) -> str:
        address = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        return f"{address}?{query}" if query else address


def _pk_of(request: HttpRequest) -> int:
    """Return the primary key of the operator; the admin admits nobody else."""
    pk: int = cast(User, request.user).pk
    return pk
