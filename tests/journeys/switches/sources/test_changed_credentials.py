"""Credentials that are changed open the account that is read, not another one (switch-over rules, "Routes")."""

import pytest

from adapters import clock
from commands.demo.played.sample import Sample
from domain.refusals import Refused
from models import db
from pipelines.switches import changes
from tests.support.rows.brands import Brand
from tests.support.switches.played_switch import switching

_SAMPLE = Sample(campaigns=1, affiliates=3, customers=3, commissions=3)


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def _change_credentials(switch, **credentials):
    switch.account.credentials |= credentials
    key = {"organization_id": switch.brand.id, "switch_id": switch.id}
    body = {"credentials": credentials}
    proved = changes.prove_credentials(**key, body=body, now=clock.now())
    with db.unit_of_work(switch.brand.id):
        changes.change(**key, body=body, proved=proved, now=clock.now())


def _open_another_account(switch):
    """Make the played account another one, as a source tells; return the credentials that change."""
    account = switch.account
    match switch.name:
        case "rewardful":
            account["campaigns"].update(0, id="00000009-0000-4000-8000-000000000009")
            return {"apiSecret": "another"}
        case "tapfiliate":
            account["programs"].update(0, id="other-program")
            return {"apiKey": "another"}
        case "dub":
            for place in range(len(account["partners"])):
                account["partners"].update(place, programId="prog_other")
            return {"apiKey": "dub_another"}
        case "firstpromoter":
            return {"apiKey": "another", "accountId": "another"}
    return {"apiKey": "another", "programId": "prg_other"}


@pytest.mark.parametrize("name", ["rewardful", "firstpromoter", "tolt", "tapfiliate", "dub"])
def test_another_account_is_refused_once_reading_has_begun(brand, monkeypatch, name):
    with switching(brand, monkeypatch, name, _SAMPLE) as switch:
        switch.connect()
        switch.start_reading()
        before = switch.find()
        with pytest.raises(Refused) as refused:
            _change_credentials(switch, **_open_another_account(switch))

    assert (refused.value.status, refused.value.code) == (422, "switch_credentials_refused")
    assert switch.find() == before


@pytest.mark.parametrize(
    ("name", "credentials"),
    [
        ("rewardful", {"apiSecret": "renewed"}),
        ("firstpromoter", {"apiKey": "renewed"}),
        ("partnerstack", {"publicKey": "pk_renewed", "secretKey": "renewed"}),
        ("tapfiliate", {"apiKey": "renewed"}),
        ("dub", {"apiKey": "dub_renewed"}),
    ],
)
def test_renewed_key_of_the_same_account_is_taken(brand, monkeypatch, name, credentials):
    with switching(brand, monkeypatch, name, _SAMPLE) as switch:
        switch.connect()
        switch.start_reading()
        before = switch.find().credentials_sealed
        _change_credentials(switch, **credentials)

        assert switch.find().credentials_sealed != before
