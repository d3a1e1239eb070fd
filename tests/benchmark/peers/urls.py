"""The URLs of both apps, which share the sources."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from tests.benchmark.peers.books.views import ChargeViewSet as ChargeViewSetWithBooks
from tests.benchmark.peers.textbook.views import ChargeViewSet, SourceViewSet


def ping(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _urls(charges: type[ChargeViewSet]) -> list[object]:
    router = SimpleRouter()
    router.register("sources", SourceViewSet, "source")
    router.register("charges", charges, "charge")
    return router.urls


urlpatterns = [
    path("ping", ping),
    path("textbook/", include(_urls(ChargeViewSet))),
    path("books/", include(_urls(ChargeViewSetWithBooks))),
]
