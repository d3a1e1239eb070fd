"""Packages that only some servers need: extras of pyproject.toml, each with a lock beside requirements.lock."""

from importlib.util import find_spec


def has_package(name: str) -> bool:
    """Return whether a package is installed, whose parents may not be either."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def needs(extra: str) -> str:
    """Return what a setting says whose packages are not installed."""
    line = f"pip install --no-deps --require-hashes -r requirements.lock -r requirements-{extra}.lock"
    return f"needs packages that are not installed: {line}"
