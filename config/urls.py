from django.contrib import admin
from django.urls import include, path, re_path

import customers.api.urls
import payments.api.urls
from config.boot.extras import has_package
from payments.api.account import HealthView, PingView
from payments.api.guides.command_line import download_wheel
from payments.api.guides.views import list_guides, show_guide, show_start
from payments.api.provider_webhooks import receive_webhook
from payments.api.reference.search import show_index
from payments.api.reference.views import DocumentView, show_reference
from payments.api.urls import ApiResolver
from payments.mcp.views import McpView

# Tried in this order, so the most frequent come first.
of_everybody = [
    ApiResolver([*payments.api.urls.urlpatterns, *customers.api.urls.urlpatterns]),
    re_path(r"^v2/openapi\.json/?$", DocumentView.as_view()),
    re_path(r"^v2/health/?$", HealthView.as_view()),
    re_path(r"^ping/?$", PingView.as_view()),
    *([re_path(r"^mcp/?$", McpView.as_view())] if has_package("mcp") else []),
    path("", show_start),
    re_path(r"^docs/?$", show_reference),
    re_path(r"^docs/search\.json$", show_index),
    re_path(r"^docs/guides/?$", list_guides),
    re_path(r"^docs/(?:guides/)?(?P<name>[A-Za-z0-9_.-]+)/?$", show_guide),
    re_path(r"^cli/(?P<name>[^/]*)$", download_wheel),
    re_path(r"^providers/(?P<account_id>[^/]+)/webhooks/?$", receive_webhook, name="provider-webhook"),
    path("", include("payments.pages.urls")),
]
urlpatterns = [
    *of_everybody,
    path("admin/", include("payments.staff.sign_in.urls")),
    path("admin/", admin.site.urls),
]
handler400 = "config.http.error_pages.bad_request"
handler404 = "config.http.error_pages.not_found"
handler500 = "config.http.error_pages.server_error"
