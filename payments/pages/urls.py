from django.urls import path, re_path

from payments.pages.card_frames import VERSION, send_script, show_field
from payments.pages.checkout.link import show_link
from payments.pages.checkout.views import finish_checkout, show_checkout, show_receipt
from payments.pages.payer import qr_image, return_payer, show_payment_receipt, show_qr_page
from payments.pages.simulator import pay, qr_code
from payments.pages.transparency import show_consistency, show_head, show_head_of, show_keys

urlpatterns = [
    path("components/index.html", show_field, name="card-field"),
    re_path(r"^sdk/(?:kaha|magpie)\.js$", send_script, name="script"),
    re_path(rf"^sdk/(?P<version>{VERSION})/(?:kaha|magpie)\.js$", send_script, name="script-of-version"),
    re_path(r"^transparency/?$", show_head, name="log-head"),
    path("transparency/keys", show_keys, name="log-keys"),
    path("transparency/heads/<int:size>", show_head_of, name="log-head-of"),
    path("transparency/consistency/<int:first>/<int:second>", show_consistency, name="log-consistency"),
    path("checkout/<str:token>", show_checkout, {"prefix": "cs"}, name="checkout"),
    path("checkout/<str:token>/done", finish_checkout, {"prefix": "cs"}, name="checkout-done"),
    path("checkout/<str:token>/receipt", show_receipt, {"prefix": "cs"}, name="checkout-receipt"),
    path("requests/<str:token>", show_checkout, {"prefix": "pr"}, name="request"),
    path("requests/<str:token>/done", finish_checkout, {"prefix": "pr"}, name="request-done"),
    path("requests/<str:token>/receipt", show_receipt, {"prefix": "pr"}, name="request-receipt"),
    path("links/<str:short>", show_link, name="link"),
    path("simulator/pay/<str:token>", pay, name="simulator-pay"),
    path("simulator/pay/<str:token>/qr.svg", qr_code, name="simulator-qr"),
    path("pay/<str:token>", show_qr_page, name="payer-code"),
    path("pay/<str:token>/qr.svg", qr_image, name="payer-code-image"),
    path("return/<str:token>", return_payer, name="payer-return"),
    path("return/<str:token>/receipt", show_payment_receipt, name="payer-receipt"),
]
