from django.urls import path

from payments.pages.returning import payer_came_back
from payments.pages.scanning import code, show_code
from payments.pages.simulator import pay, qr_code

urlpatterns = [
    path("simulator/pay/<str:token>", pay, name="simulator-pay"),
    path("simulator/pay/<str:token>/qr.svg", qr_code, name="simulator-qr"),
    path("pay/<str:token>", show_code, name="payer-code"),
    path("pay/<str:token>/qr.svg", code, name="payer-code-image"),
    path("return/<str:token>", payer_came_back, name="payer-return"),
]
