"""What holds for every screen there is: each is found in the application itself, so none can be forgotten.

Source: the pages' interface, "Every page".
"""

import re

import pytest

from tests.support import databases
from tests.support.operators import Operator
from tests.support.outside.visitor import Visitor
from tests.support.pages import full_brands, screens
from tests.support.rows.brands import Brand

_PROVEN = {"Sec-Fetch-Site": "same-origin"}
_FOREIGN = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.test"}, {}]
_RAW_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}")
# What is by day in UTC, and says so.
_BY_RULE = re.compile(r"in UTC\b|\(UTC\)")
_UNSPOKEN = re.compile(r"\b(None|null|undefined|NaN)\b|[{][{%]|&lt;built-in")
# Names of a catalogue: no tenant has them.
_EVERYBODYS = ("<gateway>", "<platform>")
# What stands in the network is there for the affiliates of every brand.
_LISTED = "<listed_id>"
_FRAME_FORMS = {"/sign-out", "/theme"}
# Whoever may read may ask there; what is proposed is looked at by the operations behind it.
_OPEN_TO_VIEWERS = "/dashboard/co-pilot"


@pytest.fixture(scope="module", autouse=True)
def _nobody_else(app):
    """The console shows what all brands wrote, and those of other tests write anything."""
    with databases.isolated_database():
        yield


@pytest.fixture(scope="module")
def operator(app):
    return Operator(app)


@pytest.fixture
def full_brand(app):
    """A brand with something of everything."""
    return full_brands.create_full_brand(app)


@pytest.fixture
def bare(app):
    """A brand with nothing."""
    return full_brands.FullBrand(Brand.create(app), "nobody@nothing.example")


def _people(app, operator, brand, role="Owner"):
    """Return a browser by kind of person, all of this brand."""
    more = {
        "member": ("--org", brand.brand.id, "--role", role, "--email", f"{role.lower()}@{brand.brand.id.hex}.example"),
        "account": ("--email", brand.email),
        "operator": (),
    }
    found = {}
    for kind, (who, _) in screens.KINDS.items():
        found[kind] = Visitor(app)
        found[kind].open(operator.json("sign-in", who, *more[kind])["url"])
    return found


def _words(html):
    return re.sub(r"<(script|pre|textarea)\b.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)


def _is_whole(answer):
    return answer.mimetype == "text/html" and answer.text.startswith("<!doctype html>")


def _check_frame(path, answer):
    html = answer.text
    assert answer.status_code == 200, f"{path}: {answer.status_code} {_words(html)[:300]}"
    assert html.count("<h1") == html.count("<main ") == 1, path
    assert '<html lang="en"' in html, path
    assert 'rel="icon"' in html, path
    assert not _UNSPOKEN.search(_words(html)), f"{path}: {_UNSPOKEN.search(_words(html))}"
    assert len(html.encode()) < 60_000, path
    ids = re.findall(r'\sid="([^"]*)"', html)
    assert sorted(ids) == sorted(set(ids)), path
    for form in re.findall(r'<form method="post".*?</form>', html, re.DOTALL):
        assert form.count('name="_key"') == 1, path


@pytest.mark.parametrize("which", ["full_brand", "bare"])
def test_every_page_has_its_frame_with_and_without_data(app, operator, request, which):
    brand = request.getfixturevalue(which)
    people = _people(app, operator, brand)
    titles, seen = {}, 0
    for kind, rule in screens.list_rules(app, "GET"):
        if "<" in rule and which == "bare":
            continue
        path = screens.build_address(rule, brand.names)
        answer = people[kind].open(path)
        if not _is_whole(answer):
            continue
        _check_frame(path, answer)
        title = re.search("<title>(.*?)</title>", answer.text)[1]
        assert titles.setdefault((kind, title), path) == path, f"{path} and {titles[kind, title]} are both {title}"
        seen += 1
    assert seen >= 3


def test_no_page_shows_a_time_in_another_zone(app, operator, full_brand):
    # Kolkata is half an hour off, so that no local time looks like one of UTC.
    full_brand.brand.rows(
        "update organization set timezone = 'Asia/Kolkata' where id = %s returning 1", full_brand.brand.id
    )
    people, named = _people(app, operator, full_brand), set()
    for kind, rule in screens.list_rules(app, "GET"):
        if kind == "operator":
            continue
        answer = people[kind].open(screens.build_address(rule, full_brand.names))
        text = _words(answer.text) if answer.mimetype == "text/html" else ""
        assert not _RAW_TIME.search(text), f"{rule}: {_RAW_TIME.search(text)}"
        assert not re.search(r"UTC", _BY_RULE.sub("", text)), rule
        named |= {kind} if "Asia/Kolkata" in text else set()
    assert named == {"member", "account"}


def test_address_of_every_live_part_responds(app, operator, full_brand):
    people = _people(app, operator, full_brand)
    for kind, rule in screens.list_rules(app, "GET"):
        shown = people[kind].open(screens.build_address(rule, full_brand.names))
        for address in re.findall(r'hx-get="([^"]*)"', shown.text if shown.mimetype == "text/html" else ""):
            part = people[kind].open(address.replace("&amp;", "&"))
            assert part.status_code in (200, 204), address


def test_viewer_sees_only_the_forms_of_the_frame(app, operator, full_brand):
    viewer = _people(app, operator, full_brand, "Viewer")["member"]
    for kind, rule in screens.list_rules(app, "GET"):
        if kind != "member":
            continue
        answer = viewer.open(screens.build_address(rule, full_brand.names))
        assert answer.status_code in (200, 403), rule
        text = answer.text if answer.mimetype == "text/html" else ""
        actions = set(re.findall(r'<form method="post" action="([^"]*)"', text))
        assert actions <= _FRAME_FORMS | {_OPEN_TO_VIEWERS}, rule


def test_another_brands_owner_sees_the_page_of_an_unknown_id(app, operator, full_brand, rival):
    people = _people(app, operator, full_brands.FullBrand(rival, "other@elsewhere.example"))
    for method in ("GET", "POST"):
        for kind, rule in screens.list_rules(app, method):
            if "<" not in rule or kind == "operator" or rule.endswith(_EVERYBODYS) or _LISTED in rule:
                continue
            theirs, nobodys = (
                people[kind].client.open(path, method=method, headers=_PROVEN)
                for path in (screens.build_address(rule, full_brand.names), screens.address_with_unknown_ids(rule))
            )
            assert theirs.status_code == nobodys.status_code, rule
            if method == "GET":
                assert theirs.status_code == 404, rule
                assert _stable_words(theirs) == _stable_words(nobodys), rule
            assert str(full_brand.brand.id) not in theirs.text


def _stable_words(answer):
    """Return the words of a page without what is fresh each time."""
    return _words(answer.text)


@pytest.mark.parametrize("headers", _FOREIGN, ids=str)
def test_request_without_own_origin_is_refused(app, operator, full_brand, headers):
    people = _people(app, operator, full_brand)
    open_posts = [
        ("member", rule.rule)
        for rule in app.url_map.iter_rules()
        if "POST" in rule.methods and app.view_functions[rule.endpoint].__module__ == "pages.sign_in.links"
    ]
    assert len(open_posts) >= 2
    for kind, rule in [*screens.list_rules(app, "POST"), *open_posts]:
        path = screens.build_address(rule, {**full_brand.names, "token": "of-nobody"})
        assert people[kind].client.post(path, headers=headers).status_code == 403, rule
    for kind, (_, home) in screens.KINDS.items():
        assert people[kind].open(home).status_code == 200


def test_every_page_redirects_a_visitor_to_sign_in(app, full_brand):
    for _, rule in screens.list_rules(app, "GET"):
        path = screens.build_address(rule, full_brand.names)
        answer = Visitor(app).open(path)
        assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (303, "/sign-in"), rule


def test_every_page_requires_its_kind_of_person(app, operator, full_brand):
    people = _people(app, operator, full_brand)
    for kind, rule in screens.list_rules(app, "GET"):
        path = screens.build_address(rule, full_brand.names)
        for other in set(people) - {kind}:
            assert people[other].open(path).status_code == 403, rule


def test_forms_of_another_kind_of_person_are_refused(app, operator, full_brand):
    people = _people(app, operator, full_brand)
    people |= {"viewer": _people(app, operator, full_brand, "Viewer")["member"]}
    for kind, rule in screens.list_rules(app, "POST"):
        path = screens.build_address(rule, full_brand.names)
        for other in set(people) - {kind} - ({"viewer"} if kind == "member" else set()):
            answer = people[other].send(path, {"_key": f"{other}-1", "why": "w", "amount": "1", "confirmed": "100"})
            assert answer.status_code == 403, f"{other} {rule}"
