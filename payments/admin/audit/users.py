from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group

from payments.admin.framework.change_audit import Audited
from payments.admin.framework.merchant_access import Limited

admin.site.unregister(Group)


@admin.register(Group)
class RoleAdmin(Limited, Audited, GroupAdmin):
    """Django's page of a group, with its changes in the audit log."""

    merchant_lookup = None
