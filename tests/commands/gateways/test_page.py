"""The connections page agrees with the gateway adapters."""

from pathlib import Path

from commands.gateways import catalogue

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "connections.md"


def test_table_of_the_page_equals_the_generated_one():
    printed = catalogue.render_table()
    assert printed in _PAGE.read_text(), "python -m commands.gateways.catalogue, into docs/connections.md"


def test_command_prints_the_rows_of_the_page(flask):
    rows = [f"| {' | '.join(row.values())} |" for row in flask.json("connection", "gateways")]
    assert len(rows) == 15
    assert [row for row in rows if row not in _PAGE.read_text().splitlines()] == []
