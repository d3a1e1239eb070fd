from tests.office.conftest import office  # noqa: F401  people in roles, each with a browser
from tests.pages.conftest import browser  # noqa: F401
