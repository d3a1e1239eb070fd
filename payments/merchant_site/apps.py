from django.apps import AppConfig


class MerchantSiteConfig(AppConfig):
    """Django's admin imports its module `admin`, which registers the pages."""

    name = "payments.merchant_site"
