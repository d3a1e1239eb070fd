"""The back office: every table, searchable by any ID."""

from importlib import import_module
from pkgutil import walk_packages

from django.contrib import admin

from payments.admin.framework.formats import NOTHING

admin.site.site_title = "kaha"
admin.site.site_header = "kaha"
admin.site.index_title = "Home"
admin.site.site_url = None
admin.site.empty_value_display = NOTHING

# Each page registers itself.
for module in walk_packages(__path__, f"{__name__}."):
    import_module(module.name)
