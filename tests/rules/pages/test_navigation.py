"""The navigation of each area: groups, the place of every screen, and the chapter of the docs for it."""

import re

import pytest

from pages import navigation
from tests.support import trees
from tests.support.pages import screens

_GROUPS = {
    "member": ["", "Grow", "Money", "Develop", "Settings"],
    "account": ["", "Promote", "Money", "Brands"],
    "operator": ["", "Operations", "Money", "Brands", ""],
}
# Screens that are reached from every other one, and belong to no place.
_EVERYWHERE = {"/dashboard/search"}


def _list_screens(app):
    return [(kind, rule) for kind, rule in screens.list_rules(app, "GET") if rule not in _EVERYWHERE]


@pytest.mark.parametrize("kind", _GROUPS)
def test_area_has_its_groups_and_every_place_once(kind):
    area = navigation.AREAS[kind]

    assert [group.label for group in area.groups] == _GROUPS[kind]
    paths = [place.path for place in area.places]
    assert len(paths) == len(set(paths))
    assert len({place.icon for place in area.places}) == len(paths)


def test_every_screen_belongs_to_a_place(app):
    areas = navigation.AREAS
    homeless = [rule for kind, rule in _list_screens(app) if navigation.find_place(areas[kind], rule) is None]

    # A stylesheet, and the way to another organization, which is no part of this one.
    assert [rule for rule in homeless if not rule.startswith(("/portal/theme/", "/switch-organization"))] == []


def test_screen_below_another_one_belongs_to_the_nearest_place():
    dashboard, console = navigation.AREAS["member"], navigation.AREAS["operator"]

    assert navigation.find_place(dashboard, "/dashboard/programs/7/install").label == "Programs"
    assert navigation.find_place(dashboard, "/dashboard/settings/tracking-domain").label == "Settings"
    assert navigation.find_place(console, "/console/queues/sales/pause").label == "Now"
    assert navigation.find_place(dashboard, "/dashboard/programsque") is None
    assert navigation.find_place(dashboard, "/dashboard").label == "Overview"


def test_help_of_every_screen_leads_to_an_existing_chapter(app):
    addresses = {navigation.find_help(rule) for _, rule in _list_screens(app)}
    missing = []
    for address in sorted(addresses):
        path, _, chapter = address.partition("#")
        answer = app.test_client().get(path)
        if answer.status_code != 200 or (chapter and f' id="{chapter}"' not in answer.text):
            missing.append(address)

    assert missing == []
    assert len(addresses) > 15
    assert navigation.find_help("/sign-in") == "/docs"


def test_links_of_templates_to_the_docs_lead_to_their_paragraph(app):
    sources = [path.read_text() for path in (trees.ROOT / "pages" / "templates").rglob("*.html")]
    links = {link for source in sources for link in re.findall(r'href="(/docs[^"{]*)"', source)}
    broken = []
    for link in sorted(links):
        path, _, paragraph = link.partition("#")
        answer = app.test_client().get(path)
        # The index has only links to paragraphs of other pages.
        if answer.status_code != 200 or (paragraph and (path == "/docs" or f' id="{paragraph}"' not in answer.text)):
            broken.append(link)

    assert broken == []
    assert "/docs/sales#recordSale" in links


def test_chapters_are_declared_for_existing_screens(app):
    rules = {re.sub(r"<[^>]*>", "*", rule) for _, rule in screens.list_rules(app, "GET")}
    unused = [
        pattern
        for pattern in navigation.CHAPTERS
        if not any(rule == pattern or rule.startswith(f"{pattern}/") for rule in rules)
    ]

    assert unused == []
