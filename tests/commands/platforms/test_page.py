"""The page about connections says of each platform what its adapter says."""

from pathlib import Path

from commands.platforms import catalogue
from tests.support.platforms.platform_connections import STAGES

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "connections.md"


def test_the_table_of_the_page_is_what_the_adapters_say():
    printed = catalogue.render_table()
    assert printed in _PAGE.read_text(), "python -m commands.platforms.catalogue, into docs/connections.md"


def test_what_is_read_beside_the_fields_is_what_each_platform_keeps():
    kept = {"tags": "tags", "page": "the page", "marks": "utm fields"}
    for stage in STAGES.values():
        beside = " ".join(stage.platform.slugs.beside)
        assert {kind for kind, words in kept.items() if words not in beside} == stage.cannot
