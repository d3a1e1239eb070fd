from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.http import HttpResponse
from django.urls import URLPattern, path, re_path

from payments.pages.card_frames import VERSION, send_script, show_field
from payments.pages.checkout.link import show_link
from payments.pages.checkout.views import finish_checkout, show_checkout, show_receipt
from payments.pages.payer import qr_image, return_payer, show_payment_receipt, show_picture, show_qr_page
from payments.pages.simulator import pay, qr_code
from payments.pages.transparency import show_consistency, show_head, show_head_of, show_keys


def _pages(
    routes: Mapping[str, tuple[Callable[..., HttpResponse], str]], kwargs: dict[str, Any] | None = None
) -> Iterator[URLPattern]:
    """Return the patterns of views, by route with their names; a slash may end every path."""
    for route, (view, name) in routes.items():
        for ending in ("/", ""):
            yield path(f"{route}{ending}", view, kwargs, name=name)


def _of_checkouts(root: str, name: str) -> dict[str, tuple[Callable[..., HttpResponse], str]]:
    return {
        f"{root}/<str:token>": (show_checkout, name),
        f"{root}/<str:token>/done": (finish_checkout, f"{name}-done"),
        f"{root}/<str:token>/receipt": (show_receipt, f"{name}-receipt"),
    }


urlpatterns = [
    re_path(r"^sdk/(?:kaha|magpie)\.js$", send_script, name="script"),
    re_path(rf"^sdk/(?P<version>{VERSION})/(?:kaha|magpie)\.js$", send_script, name="script-of-version"),
    *_pages(_of_checkouts("checkout", "checkout"), {"prefix": "cs"}),
    *_pages(_of_checkouts("requests", "request"), {"prefix": "pr"}),
    *_pages(
        {
            "components/index.html": (show_field, "card-field"),
            "pictures/<uuid:picture_id>.png": (show_picture, "picture"),
            "transparency": (show_head, "log-head"),
            "transparency/keys": (show_keys, "log-keys"),
            "transparency/heads/<int:size>": (show_head_of, "log-head-of"),
            "transparency/consistency/<int:first>/<int:second>": (show_consistency, "log-consistency"),
            "links/<str:short>": (show_link, "link"),
            "simulator/pay/<str:token>": (pay, "simulator-pay"),
            "simulator/pay/<str:token>/qr.svg": (qr_code, "simulator-qr"),
            "pay/<str:token>": (show_qr_page, "payer-code"),
            "pay/<str:token>/qr.svg": (qr_image, "payer-code-image"),
            "return/<str:token>": (return_payer, "payer-return"),
            "return/<str:token>/receipt": (show_payment_receipt, "payer-receipt"),
        }
    ),
]
