"""The merchants that operators work for."""

from django.contrib.auth.models import Permission, User


def for_all(user: User) -> User:
    """Let `user` work for all merchants; return it."""
    user.user_permissions.add(Permission.objects.get(codename="work_for_all_merchants"))
    return user
