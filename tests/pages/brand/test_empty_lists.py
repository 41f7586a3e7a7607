"""The lists of a brand that has nothing yet: each says what it will show, and leads to one next step."""

import re

import pytest

from pages import navigation

_EMPTY = re.compile(r'<(?:div|section) class="(?:card )?empty"[^>]*>.*?</(?:div|section)>', re.S)
_PLACES = [
    *(place.path for place in navigation.AREAS["member"].places if place.is_on is None),
    "/dashboard/affiliates/applications",
    "/dashboard/notifications",
]


def _read_main(html):
    return re.search(r"<main.*?</main>", html, re.S)[0]


def _list_open_ends(visitor, path):
    """Return the texts of the empty parts of a page that lead nowhere, if it has no form to fill them either."""
    answer = visitor.open(path)
    assert answer.status_code == 200
    main = _read_main(answer.text)
    parts = _EMPTY.findall(main)
    links = [link for part in parts for link in re.findall(r'href="([^"#]+)', part)]
    assert [link for link in links if visitor.open(link.replace("&amp;", "&")).status_code != 200] == []
    has_form = '<form method="post"' in re.sub(r'<form method="post" action="/theme".*?</form>', "", main)
    return [] if has_form else [re.sub(r"<[^>]+>|\s+", " ", part) for part in parts if "href=" not in part]


@pytest.mark.parametrize("has_program", [False, True])
def test_empty_lists_lead_to_a_next_step(visitor, links, brand, has_program):
    if has_program:
        brand.program()
    visitor.open(links("owner"))
    open_ends = {path: _list_open_ends(visitor, path) for path in _PLACES}

    # The runs above it have the next step.
    assert [text.strip().split("  ")[0] for text in open_ends.pop("/dashboard/payouts")] == ["No payouts yet"]
    assert {path: texts for path, texts in open_ends.items() if texts} == {}


@pytest.mark.parametrize("has_program", [False, True])
def test_empty_lists_offer_a_viewer_nothing_they_may_not_do(visitor, links, brand, has_program):
    if has_program:
        brand.program()
    visitor.open(links("owner", "--role", "Viewer"))
    offered = set()
    for path in _PLACES:
        answer = visitor.open(path)
        if answer.status_code == 200:  # some lists are for other roles
            offered |= {link for part in _EMPTY.findall(answer.text) for link in re.findall(r'href="([^"#]+)', part)}

    assert {link for link in offered if link.partition("?")[0].endswith(("/new", "/invites"))} == set()
