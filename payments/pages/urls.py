from django.urls import path

from payments.pages.payer import qr_image, return_payer, show_qr_page
from payments.pages.simulator import pay, qr_code

urlpatterns = [
    path("simulator/pay/<str:token>", pay, name="simulator-pay"),
    path("simulator/pay/<str:token>/qr.svg", qr_code, name="simulator-qr"),
    path("pay/<str:token>", show_qr_page, name="payer-code"),
    path("pay/<str:token>/qr.svg", qr_image, name="payer-code-image"),
    path("return/<str:token>", return_payer, name="payer-return"),
]
