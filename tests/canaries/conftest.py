from tests.admin.conftest import operator  # noqa: F401  the same one looks for cards
