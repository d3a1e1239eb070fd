"""The URLs of the app."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.routers import SimpleRouter

from tests.benchmark.peer.views import ChargeViewSet, SourceViewSet


def ping(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


router = SimpleRouter()
router.register("sources", SourceViewSet, "source")
router.register("charges", ChargeViewSet, "charge")
urlpatterns = [path("ping", ping), *router.urls]
