"""For whom operators work."""

from django.contrib.auth.models import Permission, User


def for_all(user: User) -> User:
    """`user`, marked as one who works for all merchants."""
    user.user_permissions.add(Permission.objects.get(codename="work_for_all_merchants"))
    return user
