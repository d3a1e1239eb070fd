"""The kinds of requests for approval: each module registers its executor."""

from importlib import import_module
from pkgutil import iter_modules

for module in iter_modules(__path__, f"{__name__}."):
    import_module(module.name)
