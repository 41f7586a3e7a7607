"""Behaviour that only one platform has."""

import pytest

import settings
from adapters.gateways.base import CredentialsRefused
from adapters.platforms import registry
from adapters.platforms.activecampaign import ActiveCampaign
from adapters.platforms.base import PlatformAccount, PlatformUnreachable
from tests.support.platforms.platform_connections import play_platform
from tests.support.settings_overrides import override_settings

ANN = "ann@example.com"


@pytest.fixture
def stage(request):
    with play_platform(request.param) as playing:
        yield playing


def _play(name):
    return pytest.mark.parametrize("stage", [name], indirect=True)


def _account(stage, **other):
    return PlatformAccount({**stage.credentials, **other})


@_play("mailchimp")
def test_front_page_403_of_mailchimp_is_not_a_rejection(stage):
    stage.answer = lambda request: (403, b"<html>Slow down</html>")
    with pytest.raises(PlatformUnreachable):
        stage.platform.check(_account(stage))
    stage.answer = lambda request: (403, {"title": "Forbidden"})
    with pytest.raises(CredentialsRefused, match="Forbidden"):
        stage.platform.check(_account(stage))


@_play("mailchimp")
def test_unknown_mailchimp_audience_is_reported(stage):
    assert stage.platform.check(_account(stage, listId="nobodys")) == "the key sees no audience of this id"


@pytest.mark.parametrize("key", ["abc", "abc-", "abc-evil.example/", "abc-us1@evil", "abc-us1:80", "-"])
def test_mailchimp_key_cannot_choose_another_host(key):
    with pytest.raises(CredentialsRefused, match="data centre"):
        registry.get("mailchimp").check(PlatformAccount({"apiKey": key, "listId": "a"}))


@_play("beehiiv")
def test_unknown_beehiiv_publication_is_reported(stage):
    problem = stage.platform.check(_account(stage, publicationId="pub_nobodys"))
    assert problem == "the key sees no publication of this id"


@_play("hubspot")
def test_hubspot_token_limited_to_reading_contacts_is_accepted(stage):
    stage.is_narrow = True
    assert stage.platform.check(_account(stage)) is None


@_play("activecampaign")
def test_new_activecampaign_field_triggers_a_reload_of_fields(stage):
    adapter = ActiveCampaign()
    stage.add_person(ANN, fields={"via": "jane"})
    for _ in range(2):
        assert adapter.find(_account(stage), ANN, names=["via"]).fields == {"VIA": "jane"}
    assert [call.path for call in stage.calls].count("/api/3/fields") == 1
    stage.add_person(ANN, fields={"via": "jane", "other": "x"})
    assert adapter.find(_account(stage), ANN, names=["via"]).fields == {"VIA": "jane", "OTHER": "x"}


@_play("activecampaign")
@pytest.mark.parametrize("url", ["", "ftp://x.example", "user@x.example", "x y", "https://", "http://[::1"])
def test_malformed_activecampaign_address_is_rejected(stage, url):
    with pytest.raises(CredentialsRefused):
        stage.platform.check(_account(stage, apiUrl=url))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://10.0.0.1", "https://localhost", "169.254.169.254"])
def test_private_host_entered_by_a_brand_is_rejected(monkeypatch, url):
    override_settings(monkeypatch, webhooks={"allow_private": False})
    with pytest.raises(CredentialsRefused):
        registry.get("activecampaign").check(PlatformAccount({"apiUrl": url, "apiKey": "x"}))


@_play("activecampaign")
def test_entered_host_is_called_in_any_written_form(stage, monkeypatch):
    override_settings(monkeypatch, addresses={"apis": dict.fromkeys(settings.current().addresses.apis)})
    for url in (stage.url, f"{stage.url}/", f"{stage.url}/api/3"):
        assert stage.platform.check(_account(stage, apiUrl=url)) is None
    stage.answer = lambda request: (404, None)
    with pytest.raises(CredentialsRefused, match="no API"):
        stage.platform.check(_account(stage, apiUrl=stage.url))
