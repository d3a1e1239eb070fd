"""Django's admin imports this module: it registers the pages of the merchants' site."""

from importlib import import_module
from pkgutil import iter_modules

from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import NOTHING
from payments.merchant_site import pages
from payments.merchant_site.site import merchant_site

merchant_site.site_title = merchant_site.site_header = "kaha"
merchant_site.index_title, merchant_site.site_url = _("Home"), None
merchant_site.empty_value_display = NOTHING
for module in iter_modules(pages.__path__, f"{pages.__name__}."):
    import_module(module.name)
