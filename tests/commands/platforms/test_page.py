"""The connections page agrees with the platform adapters."""

from pathlib import Path

from commands.platforms import catalogue
from tests.support.platforms.platform_connections import STAGES

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "connections.md"


def test_table_of_the_page_equals_the_generated_one():
    printed = catalogue.render_table()
    assert printed in _PAGE.read_text(), "python -m commands.platforms.catalogue, into docs/connections.md"


def test_additional_slug_sources_match_the_platforms_features():
    sources = {"tags": "tags", "page": "the page", "marks": "utm fields"}
    for stage in STAGES.values():
        additional_sources = " ".join(stage.platform.slugs.beside)
        assert {kind for kind, words in sources.items() if words not in additional_sources} == stage.unsupported
