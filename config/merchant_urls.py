"""The addresses of a request for the merchants' own site: the pages there have the names that the back office has."""

from django.urls import include, path

from config import urls
from payments.merchant_site.site import merchant_site

urlpatterns = [
    path("merchant/", include("payments.staff.sign_in.urls")),
    path("merchant/", (merchant_site.get_urls(), "admin", "admin")),
    *urls.of_everybody,
]
handler400, handler404, handler500 = urls.handler400, urls.handler404, urls.handler500
