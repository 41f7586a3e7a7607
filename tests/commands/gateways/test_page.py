"""The page about connections says of each gateway what its adapter says."""

from pathlib import Path

from commands.gateways import catalogue

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "connections.md"


def test_the_table_of_the_page_is_what_the_adapters_say():
    printed = catalogue.render_table()
    assert printed in _PAGE.read_text(), "python -m commands.gateways.catalogue, into docs/connections.md"


def test_the_command_prints_the_rows_of_the_page(flask):
    rows = [f"| {' | '.join(row.values())} |" for row in flask.json("connection", "gateways")]
    assert len(rows) == 15
    assert [row for row in rows if row not in _PAGE.read_text().splitlines()] == []
