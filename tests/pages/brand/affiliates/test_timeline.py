"""The timeline on the page of one affiliate."""

import html
import re

import pytest

from domain.affiliates.timeline import EventKind
from pages import documents


@pytest.fixture
def ben(brand):
    """Return the address of the page of Ben, an affiliate of the brand's only campaign."""
    brand.program(name="Spring")
    return f"/dashboard/affiliates/{brand.affiliate('ben', full_name='Ben <Osei>', tags=['video'], notes='Tall')}"


def _visible_text(answer):
    return html.unescape(re.sub(r"<[^>]*>", " ", answer.text))


def test_notes_are_edited_and_appear_in_the_timeline(brand, people, ben):
    visitor = people("Manager")
    answer = visitor.send(f"{ben}/notes", {"_key": "k", "notes": "Met at\nthe fair"})

    assert answer.status_code == 303
    columns = "full_name, tags, notes"
    assert brand.rows(f"select {columns} from affiliate") == [("Ben <Osei>", ["video"], "Met at\nthe fair")]
    html = visitor.open(answer.headers["Location"]).text
    assert "Notes saved." in html
    assert "Notes edited" in html
    assert "Notes edited" in visitor.open(f"{ben}/timeline").text


def test_every_kind_of_event_has_words_in_the_timeline():
    template = "screens/brand/affiliates/_timeline.html"
    source = documents.TEMPLATES.loader.get_source(documents.TEMPLATES, template)[0]
    words = set(re.findall(r'"([a-z_]+)": _\(', source.partition("field_words")[0]))

    assert set(map(str, EventKind)) - words == {"changed"}


def test_links_and_codes_are_named_in_the_timeline(brand, people, ben):
    visitor = people("Manager")
    assert visitor.send(f"{ben}/links", {"_key": "k", "customAlias": "ben-video", "format": "Query"}).status_code == 303
    (removal_path,) = re.findall(r'action="([^"]+/remove)"', visitor.open(ben).text)
    assert visitor.send(removal_path, {"_key": "l"}).status_code == 303

    text = " ".join(_visible_text(visitor.open(f"{ben}/timeline")).split())
    assert "Link deleted ben-video" in text
    assert "Link created ben-video" in text


def test_timeline_is_paged_and_names_who_acted(brand, people, ben):
    visitor = people("Manager")
    for number in range(51):
        assert visitor.send(f"{ben}/notes", {"_key": f"k{number}", "notes": f"Note {number}"}).status_code == 303

    first = visitor.open(f"{ben}/timeline").text
    assert first.count("Notes edited") == 50
    assert "manager@example.com" in first
    older = re.search(r'href="([^"]+)" rel="next"', first)[1].replace("&amp;", "&")
    html = visitor.open(older).text
    assert html.count("Notes edited") == 1
    assert "Added" in html
