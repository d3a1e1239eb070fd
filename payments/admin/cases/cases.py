"""The list of cases: what operators work on."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from payments.admin.framework.base import BaseAdmin, ReadOnlyInline
from payments.admin.framework.formats import NOTHING, chip, column, lines, link
from payments.admin.framework.id_search import IdSearch
from payments.models import Case, Note


class ByAssignee(admin.SimpleListFilter):
    """A filter by the assignee: the operator who asks, any operator or none."""

    title = parameter_name = "assigned"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("me", "To me"), ("operator", "To an operator"), ("none", "To no operator")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "me":
            return queryset.filter(assignee_id=request.user.pk)
        return queryset.filter(assignee__isnull=self.value() == "none") if self.value() else queryset


def subject_link(case: Case) -> SafeString | str:
    """Return a link to what the case is about."""
    return link(type(case.subject), case.subject.pk, called(case))


def called(case: Case) -> str:
    """Return what the case is about, in words."""
    return f"{case.subject._meta.verbose_name} {case.subject}"


class NotesOfCase(ReadOnlyInline):
    model = Note
    fields = ("created", "author", "text")
    ordering = ("pk",)
    show_change_link = False


@admin.register(Case)
class CaseAdmin(BaseAdmin):
    list_display = ("about", "assignee", "shown_tags", "note_count", "updated")
    list_filter = (ByAssignee,)
    list_select_related = ("charge", "attempt", "item", "assignee")
    search_help_text = "A tag, or any ID, whole."
    search = IdSearch({"ch": "charge_id", "attempt": "attempt_id", "mer": "merchant_id"})
    fieldsets = ((None, {"fields": ("about", "merchant", "assignee", "shown_tags", "created", "updated")}),)
    inlines = (NotesOfCase,)
    about = column("About", subject_link, in_list=lambda case: capfirst(called(case)))
    shown_tags = column("Tags", lambda case: lines(map(chip, case.tags)) if case.tags else NOTHING)
    note_count = column("Notes", lambda case: case.note_count)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).annotate(note_count=Count("notes"))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        tag = search_term.strip().lower()
        if not tag or any(self.search.conditions(tag)):
            return super().get_search_results(request, queryset, search_term)
        return queryset.filter(tags__contains=[tag]), False
