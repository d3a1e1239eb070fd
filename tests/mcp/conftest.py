from tests.admin.conftest import operator as operator
from tests.cli.conftest import bare_terminal as bare_terminal
