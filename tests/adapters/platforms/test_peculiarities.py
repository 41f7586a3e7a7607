"""What only one of the platforms does."""

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
def test_a_page_in_front_of_mailchimp_that_says_403_is_no_refusal(stage):
    stage.answer = lambda asked: (403, b"<html>Slow down</html>")
    with pytest.raises(PlatformUnreachable):
        stage.platform.check(_account(stage))
    stage.answer = lambda asked: (403, {"title": "Forbidden"})
    with pytest.raises(CredentialsRefused, match="Forbidden"):
        stage.platform.check(_account(stage))


@_play("mailchimp")
def test_an_audience_that_mailchimp_does_not_have_is_said(stage):
    assert stage.platform.check(_account(stage, listId="nobodys")) == "the key sees no audience of this id"


@pytest.mark.parametrize("key", ["abc", "abc-", "abc-evil.example/", "abc-us1@evil", "abc-us1:80", "-"])
def test_a_key_of_mailchimp_leads_to_no_host_but_mailchimps(key):
    with pytest.raises(CredentialsRefused, match="data centre"):
        registry.get("mailchimp").check(PlatformAccount({"apiKey": key, "listId": "a"}))


@_play("beehiiv")
def test_a_publication_that_beehiiv_does_not_show_is_said(stage):
    said = stage.platform.check(_account(stage, publicationId="pub_nobodys"))
    assert said == "the key sees no publication of this id"


@_play("hubspot")
def test_a_token_of_hubspot_that_may_only_read_contacts_is_good(stage):
    stage.is_narrow = True
    assert stage.platform.check(_account(stage)) is None


@_play("activecampaign")
def test_a_field_that_was_made_meanwhile_is_asked_for_and_others_are_not(stage):
    adapter = ActiveCampaign()
    stage.add_person(ANN, fields={"via": "jane"})
    for _ in range(2):
        assert adapter.find(_account(stage), ANN, names=["via"]).fields == {"VIA": "jane"}
    assert [call.path for call in stage.calls].count("/api/3/fields") == 1
    stage.add_person(ANN, fields={"via": "jane", "other": "x"})
    assert adapter.find(_account(stage), ANN, names=["via"]).fields == {"VIA": "jane", "OTHER": "x"}


@_play("activecampaign")
@pytest.mark.parametrize("url", ["", "ftp://x.example", "user@x.example", "x y", "https://", "http://[::1"])
def test_what_is_no_address_at_activecampaign_is_refused(stage, url):
    with pytest.raises(CredentialsRefused):
        stage.platform.check(_account(stage, apiUrl=url))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://10.0.0.1", "https://localhost", "169.254.169.254"])
def test_a_host_that_a_brand_typed_must_be_public(monkeypatch, url):
    override_settings(monkeypatch, webhooks={"allow_private": False})
    with pytest.raises(CredentialsRefused):
        registry.get("activecampaign").check(PlatformAccount({"apiUrl": url, "apiKey": "x"}))


@_play("activecampaign")
def test_a_host_that_a_brand_typed_is_called_where_it_is(stage, monkeypatch):
    override_settings(monkeypatch, addresses={"apis": dict.fromkeys(settings.current().addresses.apis)})
    for typed in (stage.url, f"{stage.url}/", f"{stage.url}/api/3"):
        assert stage.platform.check(_account(stage, apiUrl=typed)) is None
    stage.answer = lambda asked: (404, None)
    with pytest.raises(CredentialsRefused, match="no API"):
        stage.platform.check(_account(stage, apiUrl=stage.url))
