"""The cast of this folder, made once."""

from tests.contract.shared_cast import _test_is_undone, other_shop, shared_database, shop

__all__ = ["_test_is_undone", "other_shop", "shared_database", "shop"]
