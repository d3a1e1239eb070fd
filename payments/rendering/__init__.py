"""Objects as merchants see them: plain functions from rows to dicts, and from dicts to bytes."""
