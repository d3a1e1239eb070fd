"""The URLs of the apps, of which the first two share the sources."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import GenericViewSet

from tests.benchmark.peers.books.views import ChargeViewSet as ChargeViewSetWithBooks
from tests.benchmark.peers.company import views as company
from tests.benchmark.peers.textbook.views import ChargeViewSet, SourceViewSet


def ping(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _urls(charges: type[GenericViewSet[Any]], sources: type[GenericViewSet[Any]] = SourceViewSet) -> list[object]:
    router = SimpleRouter()
    router.register("sources", sources, "source")
    router.register("charges", charges, "charge")
    return router.urls


urlpatterns = [
    path("ping", ping),
    path("textbook/", include(_urls(ChargeViewSet))),
    path("books/", include(_urls(ChargeViewSetWithBooks))),
    path("company/", include(_urls(company.ChargeViewSet, company.SourceViewSet))),
]
