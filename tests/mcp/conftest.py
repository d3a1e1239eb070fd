from tests.admin.conftest import operator as operator
