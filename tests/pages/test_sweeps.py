"""Rules for every screen. The screens are listed from the application itself, so that none is forgotten.

Source: the pages' interface, "Every page".
"""

import re

import pytest

from tests.support import databases
from tests.support.operators import Operator
from tests.support.outside.visitor import Visitor
from tests.support.pages import full_brands, screens
from tests.support.rows.brands import Brand

_SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
_FOREIGN = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.test"}, {}]
_RAW_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}")
# Texts that name UTC on purpose: values by day in UTC.
_BY_RULE = re.compile(r"in UTC\b|\(UTC\)")
_MACHINE_WORDS = re.compile(r"\b(None|null|undefined|NaN)\b|[{][{%]|&lt;built-in")
# Addresses of catalogue entries, which belong to no tenant.
_SHARED_ADDRESSES = ("<gateway>", "<platform>")
# Programs listed in the network are visible to the affiliates of every brand.
_LISTED_PROGRAM = "<listed_id>"
_FRAME_FORMS = {"/sign-out", "/theme"}
# A Viewer may ask the co-pilot, where the operations behind a proposed action check the permission, has a second factor
# of their own, and goes to another of their organizations.
_OPEN_TO_VIEWERS = {
    "/dashboard/co-pilot",
    "/dashboard/settings/security/two-factor/start",
    "/switch-organization",
}


@pytest.fixture(scope="module", autouse=True)
def _isolated_database(app):
    """The console shows data of all brands; brands of other tests have arbitrary texts."""
    with databases.isolated_database():
        yield


@pytest.fixture(scope="module")
def operator(app):
    return Operator(app)


@pytest.fixture
def full_brand(app):
    """A brand with at least one row of each kind."""
    return full_brands.create_full_brand(app)


@pytest.fixture
def empty_brand(app):
    """A brand without data."""
    return full_brands.FullBrand(Brand.create(app), "nobody@nothing.example")


def _people(app, operator, brand, role="Owner"):
    """Return signed-in browsers of this brand's people, by kind of person."""
    arguments = {
        "member": ("--org", brand.brand.id, "--role", role, "--email", f"{role.lower()}@{brand.brand.id.hex}.example"),
        "account": ("--email", brand.email),
        "operator": (),
    }
    browsers = {}
    for kind, (account, _) in screens.KINDS.items():
        browsers[kind] = Visitor(app)
        browsers[kind].open(operator.json("sign-in", account, *arguments[kind])["url"])
    return browsers


def _text(html):
    return re.sub(r"<(script|pre|textarea)\b.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)


def _is_full_page(answer):
    return answer.mimetype == "text/html" and answer.text.startswith("<!doctype html>")


def _check_frame(path, answer):
    html = answer.text
    assert answer.status_code == 200, f"{path}: {answer.status_code} {_text(html)[:300]}"
    assert html.count("<h1") == html.count("<main ") == 1, path
    assert '<html lang="en"' in html, path
    assert 'rel="icon"' in html, path
    assert not _MACHINE_WORDS.search(_text(html)), f"{path}: {_MACHINE_WORDS.search(_text(html))}"
    assert len(html.encode()) < 60_000, path
    ids = re.findall(r'\sid="([^"]*)"', html)
    assert sorted(ids) == sorted(set(ids)), path
    for form in re.findall(r'<form method="post".*?</form>', html, re.DOTALL):
        assert form.count('name="_key"') == 1, path


@pytest.mark.parametrize("fixture", ["full_brand", "empty_brand"])
def test_every_page_has_its_frame_with_and_without_data(app, operator, request, fixture):
    brand = request.getfixturevalue(fixture)
    people = _people(app, operator, brand)
    titles, page_count = {}, 0
    for kind, rule in screens.list_rules(app, "GET"):
        if "<" in rule and fixture == "empty_brand":
            continue
        path = screens.build_address(rule, brand.names)
        answer = people[kind].open(path)
        if not _is_full_page(answer):
            continue
        _check_frame(path, answer)
        title = re.search("<title>(.*?)</title>", answer.text)[1]
        assert titles.setdefault((kind, title), path) == path, f"{path} and {titles[kind, title]} are both {title}"
        page_count += 1
    assert page_count >= 3


def test_no_page_shows_a_time_in_another_zone(app, operator, full_brand):
    # Kolkata is half an hour off, so that no local time looks like one of UTC.
    full_brand.brand.rows(
        "update organization set timezone = 'Asia/Kolkata' where id = %s returning 1", full_brand.brand.id
    )
    people, kinds_with_zone = _people(app, operator, full_brand), set()
    for kind, rule in screens.list_rules(app, "GET"):
        if kind == "operator":
            continue
        answer = people[kind].open(screens.build_address(rule, full_brand.names))
        text = _text(answer.text) if answer.mimetype == "text/html" else ""
        assert not _RAW_TIME.search(text), f"{rule}: {_RAW_TIME.search(text)}"
        assert not re.search(r"UTC", _BY_RULE.sub("", text)), rule
        kinds_with_zone |= {kind} if "Asia/Kolkata" in text else set()
    assert kinds_with_zone == {"member", "account"}


def test_address_of_every_live_part_responds(app, operator, full_brand):
    people = _people(app, operator, full_brand)
    for kind, rule in screens.list_rules(app, "GET"):
        page = people[kind].open(screens.build_address(rule, full_brand.names))
        for address in re.findall(r'hx-get="([^"]*)"', page.text if page.mimetype == "text/html" else ""):
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
        assert actions <= _FRAME_FORMS | _OPEN_TO_VIEWERS, rule


def test_another_brands_owner_sees_the_page_of_an_unknown_id(app, operator, full_brand, rival):
    people = _people(app, operator, full_brands.FullBrand(rival, "other@elsewhere.example"))
    for method in ("GET", "POST"):
        for kind, rule in screens.list_rules(app, method):
            if "<" not in rule or kind == "operator" or rule.endswith(_SHARED_ADDRESSES) or _LISTED_PROGRAM in rule:
                continue
            existing, unknown = (
                people[kind].client.open(path, method=method, headers=_SAME_ORIGIN)
                for path in (screens.build_address(rule, full_brand.names), screens.address_with_unknown_ids(rule))
            )
            assert existing.status_code == unknown.status_code, rule
            if method == "GET":
                assert existing.status_code == 404, rule
                assert _stable_text(existing) == _stable_text(unknown), rule
            assert str(full_brand.brand.id) not in existing.text


def _stable_text(answer):
    """Return the text of a page without the parts that differ in each answer."""
    return _text(answer.text)


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
