"""What every platform's adapter promises, played by each platform of the tests over HTTP."""

import pytest

from adapters.gateways.base import CredentialsRefused
from adapters.platforms import registry
from adapters.platforms.base import PlatformAccount, PlatformUnreachable
from domain.platforms.names import Platform
from domain.platforms.signups import list_slugs
from tests.support.platforms.platform_connections import STAGES, play_platform

ANN = "ann@example.com"


@pytest.fixture(params=STAGES)
def stage(request):
    with play_platform(request.param) as playing:
        yield playing


def _account(stage, within_s=5.0, **other):
    return PlatformAccount({**stage.credentials, **other}, within_s)


def _found(stage, email=ANN, names=(), **account):
    return stage.platform.find(_account(stage, **account), email, names=names or stage.platform.slugs.fields)


def _slugs(stage, names=()):
    record = _found(stage, names=names)
    return list_slugs(record, names=names or stage.platform.slugs.fields, parameters=["via", "utm_source"])


def _keeping(kind):
    return pytest.mark.parametrize(
        "stage", [name for name, stage in STAGES.items() if kind not in stage.cannot], indirect=True
    )


def test_every_platform_is_played_and_says_what_it_is():
    assert list(STAGES) == [adapter.name for adapter in registry.all_of_them()] == list(Platform)
    for adapter in registry.all_of_them():
        assert adapter.label
        assert any(field.secret for field in adapter.fields)
        assert all(len(name) <= adapter.slugs.longest for name in adapter.slugs.fields)


def test_good_credentials_are_proved_by_a_call(stage):
    assert stage.platform.check(_account(stage)) is None
    assert stage.calls


def test_credentials_that_the_platform_refuses_are_told_apart_from_a_platform_that_is_away(stage):
    secret = next(field.name for field in stage.platform.fields if field.secret)
    wrong = f"{stage.credentials[secret][:-1]}0"
    with pytest.raises(CredentialsRefused) as refused:
        stage.platform.check(_account(stage, **{secret: wrong}))
    assert wrong not in str(refused.value)
    for act in (lambda: stage.platform.check(_account(stage)), lambda: _found(stage)):
        for fault in ("fail", "busy", "html", "cut"):
            stage.faults.extend([fault] * 3)
            with pytest.raises(PlatformUnreachable):
                act()
            stage.faults.clear()
        for fault in ("refuse", "forbid"):
            stage.faults.extend([fault] * 3)
            with pytest.raises(CredentialsRefused):
                act()
            stage.faults.clear()


def test_what_cannot_be_sent_is_refused_and_nobody_is_asked(stage):
    for field in stage.platform.fields:
        if field.secret:
            for value in ("a\r\nX-Other: 1", "ключ"):
                with pytest.raises(CredentialsRefused):
                    stage.platform.check(_account(stage, **{field.name: value}))
    assert stage.calls == [] or stage.platform.name == "mailchimp"  # whose key is encoded


def test_a_platform_that_has_enough_of_us_says_for_how_long(stage):
    stage.busy_s = 40
    stage.faults.append("busy")
    with pytest.raises(PlatformUnreachable) as busy:
        _found(stage)
    assert busy.value.wait_s == 40


def test_an_act_ends_within_its_time(stage):
    stage.slow_s = 1.5
    stage.add_person(ANN, slug="jane")
    stage.faults.extend(["slow"] * 5)
    with pytest.raises(PlatformUnreachable):
        _found(stage, within_s=1.0)


def test_somebody_who_is_not_there_is_nobody(stage):
    stage.add_person("bob@example.com", slug="jane")
    assert _found(stage) is None


def test_somebody_is_known_by_their_email_in_any_case(stage):
    stage.add_person("Ann@Example.com", slug="jane")
    assert _slugs(stage) == ["jane"]
    assert _found(stage, "ANN@example.COM") is not None


@pytest.mark.parametrize("email", ["ann+news@example.com", "o'hara%2f@example.com", "änn@exämple.com", "a/b?c#d@x.io"])
def test_an_email_may_hold_anything(stage, email):
    stage.add_person(email, slug="jane")
    assert _found(stage, email) is not None


def test_an_answer_about_somebody_else_is_no_answer(stage):
    stage.add_person("bob@example.com", slug="jane")
    stage.people[ANN] = stage.people.pop("bob@example.com")
    assert _found(stage) is None


def test_somebody_of_whom_nothing_is_known_names_nobody(stage):
    stage.add_person(ANN)
    assert _slugs(stage) == []


def test_the_slug_stands_in_the_field_that_the_brand_chose_before_the_usual_ones(stage):
    usual, behind = stage.platform.slugs.fields
    mine = "PARTNER" if usual.isupper() else "partner"
    stage.add_person(ANN, fields={behind: "third", usual: "second", mine: "first"})
    assert _slugs(stage) == ["second", "third"]
    assert _slugs(stage, (mine, usual, behind)) == ["first", "second", "third"]


@_keeping("tags")
def test_a_tag_counts_behind_the_fields(stage):
    behind = stage.platform.slugs.fields[1]
    stage.add_person(ANN, fields={behind: "first"}, tags=("vip", "Via:second", "other:third"))
    assert _slugs(stage) == ["first", "second"]


@_keeping("page")
def test_the_page_of_the_signup_counts_by_the_parameters(stage):
    stage.add_person(ANN, page="https://brand.example/news?x=1&VIA=jane&utm_source=bob")
    assert _slugs(stage) == ["jane", "bob"]


@_keeping("marks")
def test_utm_fields_count_by_the_parameters(stage):
    stage.add_person(
        ANN, page="https://brand.example/?via=first", marks={"utm_source": "second", "utm_medium": "third"}
    )
    assert _slugs(stage) == ["first", "second"]


@pytest.mark.parametrize("said", [b"[]", b"7", b'"x"', b"null", b'{"subscribers": [7], "data": [], "contacts": {}}'])
def test_an_answer_of_another_shape_knows_nobody(stage, said):
    stage.answer = lambda asked: (200, said)
    assert _found(stage) is None
