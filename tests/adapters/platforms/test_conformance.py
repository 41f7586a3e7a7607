"""Guarantees of every platform adapter, tested over HTTP against each simulated platform."""

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


def _find(stage, email=ANN, names=(), **account):
    return stage.platform.find(_account(stage, **account), email, names=names or stage.platform.slugs.fields)


def _slugs(stage, names=()):
    record = _find(stage, names=names)
    return list_slugs(record, names=names or stage.platform.slugs.fields, parameters=["via", "utm_source"])


def _stages_with(kind):
    return pytest.mark.parametrize(
        "stage", [name for name, stage in STAGES.items() if kind not in stage.unsupported], indirect=True
    )


def test_every_platform_has_a_simulation_and_a_description():
    assert list(STAGES) == [adapter.name for adapter in registry.all_of_them()] == list(Platform)
    for adapter in registry.all_of_them():
        assert adapter.label
        assert any(field.secret for field in adapter.fields)
        assert all(len(name) <= adapter.slugs.longest for name in adapter.slugs.fields)


def test_check_of_good_credentials_calls_the_platform(stage):
    assert stage.platform.check(_account(stage)) is None
    assert stage.calls


def test_rejected_credentials_differ_from_an_unreachable_platform(stage):
    secret = next(field.name for field in stage.platform.fields if field.secret)
    wrong = f"{stage.credentials[secret][:-1]}0"
    with pytest.raises(CredentialsRefused) as error_info:
        stage.platform.check(_account(stage, **{secret: wrong}))
    assert wrong not in str(error_info.value)
    for act in (lambda: stage.platform.check(_account(stage)), lambda: _find(stage)):
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


def test_unsendable_credentials_are_rejected_without_a_request(stage):
    for field in stage.platform.fields:
        if field.secret:
            for value in ("a\r\nX-Other: 1", "ключ"):
                with pytest.raises(CredentialsRefused):
                    stage.platform.check(_account(stage, **{field.name: value}))
    assert stage.calls == [] or stage.platform.name == "mailchimp"  # whose key is encoded


def test_rate_limit_reports_the_wait(stage):
    stage.busy_s = 40
    stage.faults.append("busy")
    with pytest.raises(PlatformUnreachable) as error_info:
        _find(stage)
    assert error_info.value.wait_s == 40


def test_call_ends_within_its_time_limit(stage):
    stage.slow_s = 1.5
    stage.add_person(ANN, slug="jane")
    stage.faults.extend(["slow"] * 5)
    with pytest.raises(PlatformUnreachable):
        _find(stage, within_s=1.0)


def test_unknown_email_returns_none(stage):
    stage.add_person("bob@example.com", slug="jane")
    assert _find(stage) is None


def test_email_is_matched_in_any_case(stage):
    stage.add_person("Ann@Example.com", slug="jane")
    assert _slugs(stage) == ["jane"]
    assert _find(stage, "ANN@example.COM") is not None


@pytest.mark.parametrize("email", ["ann+news@example.com", "o'hara%2f@example.com", "änn@exämple.com", "a/b?c#d@x.io"])
def test_email_with_special_characters_is_found(stage, email):
    stage.add_person(email, slug="jane")
    assert _find(stage, email) is not None


def test_answer_about_another_email_is_ignored(stage):
    stage.add_person("bob@example.com", slug="jane")
    stage.people[ANN] = stage.people.pop("bob@example.com")
    assert _find(stage) is None


def test_contact_without_fields_gives_no_slug(stage):
    stage.add_person(ANN)
    assert _slugs(stage) == []


def test_slug_fields_of_the_brand_precede_the_default_fields(stage):
    default_field, second_field = stage.platform.slugs.fields
    own_field = "PARTNER" if default_field.isupper() else "partner"
    stage.add_person(ANN, fields={second_field: "third", default_field: "second", own_field: "first"})
    assert _slugs(stage) == ["second", "third"]
    assert _slugs(stage, (own_field, default_field, second_field)) == ["first", "second", "third"]


@_stages_with("tags")
def test_tag_comes_after_the_fields(stage):
    second_field = stage.platform.slugs.fields[1]
    stage.add_person(ANN, fields={second_field: "first"}, tags=("vip", "Via:second", "other:third"))
    assert _slugs(stage) == ["first", "second"]


@_stages_with("page")
def test_signup_page_parameters_give_slugs(stage):
    stage.add_person(ANN, page="https://brand.example/news?x=1&VIA=jane&utm_source=bob")
    assert _slugs(stage) == ["jane", "bob"]


@_stages_with("marks")
def test_utm_fields_give_slugs_by_parameter(stage):
    stage.add_person(
        ANN, page="https://brand.example/?via=first", marks={"utm_source": "second", "utm_medium": "third"}
    )
    assert _slugs(stage) == ["first", "second"]


@pytest.mark.parametrize("body", [b"[]", b"7", b'"x"', b"null", b'{"subscribers": [7], "data": [], "contacts": {}}'])
def test_unexpected_answer_shape_finds_no_contact(stage, body):
    stage.answer = lambda request: (200, body)
    assert _find(stage) is None
