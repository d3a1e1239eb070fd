"""The lists of the sharding guide."""

from tests.guides.texts import text_of


def tables_in_guide(what: str) -> dict[str, set[str]]:
    """Return the tables that the guide lists for each `what`, "list" or "sweep", as they are without our prefix."""
    _, _, rest = text_of("sharding").partition(f"| {what} | tables |\n|---|---|\n")
    rows = [line.strip("| ").split(" | ") for line in rest.partition("\n\n")[0].splitlines()]
    return {cells[0].strip("`"): set(cells[1].replace("`", "").split(", ")) for cells in rows}
