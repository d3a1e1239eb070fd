"""What a user may do: operators by their groups, the merchants' own people by their role at one merchant."""

from contextlib import nullcontext
from typing import Any

from django.contrib.auth.backends import ModelBackend

from payments.models.merchants.merchant_access import membership_of
from payments.staff.merchant_roles import PERMISSIONS
from payments.staff.sign_in.passwords import hashing


class Permissions(ModelBackend):
    """Django's own, and the permissions of a role at the merchant whose site the user has open.

    A password is hashed in a turn of its own.
    """

    def authenticate(self, request: Any, username: Any = None, password: Any = None, **named: Any) -> Any:
        """Return the user if the password is right, as Django does."""
        with hashing(request) if request else nullcontext():
            return super().authenticate(request, username, password, **named)

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        membership = membership_of(user_obj)
        if membership is None:
            return super().get_all_permissions(user_obj, obj)
        return set(PERMISSIONS[membership.role]) if user_obj.is_active and obj is None else set()
