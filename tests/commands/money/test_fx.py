"""`flask fx` as an operator types it. Rates are everybody's, so every test has currencies of its own."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from adapters import fx_feed
from models import db
from pipelines import fx_intake
from tests.support.rows.program_rows import insert_conversion
from tests.support.rows.rates import list_rates, serve_feed


def _today():
    return datetime.now(UTC).date()


@pytest.fixture
def file(tmp_path):
    """Write rows under the columns and return the path."""

    def write(*rows: str) -> str:
        path = tmp_path / "rates.csv"
        path.write_text("\n".join(["currency,perUsd,date", *rows]))
        return str(path)

    return write


def test_a_file_is_stored(flask, file):
    code, said = flask("fx", "load", file("AOA,912.5,2024-05-01", "AOA,913,2024-05-02"))

    assert (code, said) == (0, "2 new, 0 replaced, 0 known already; up to 2024-05-02\nNext: flask fx status\n")
    assert [(str(on), rate) for _, on, rate in list_rates("AOA")] == [
        ("2024-05-01", Decimal("912.5")),
        ("2024-05-02", Decimal(913)),
    ]


def test_a_rate_that_is_published_again_replaces_the_one_before(flask, file):
    flask("fx", "load", file("BAM,1,2024-05-01", "BAM,2,2024-05-02"))

    loaded = flask.json("fx", "load", file("BAM,1,2024-05-01", "BAM,2.5,2024-05-02", "BAM,3,2024-05-03"))

    assert loaded == {"new": 1, "replaced": 1, "known": 1, "newest": "2024-05-03", "skipped": []}
    assert [rate for *_, rate in list_rates("BAM")] == [Decimal(1), Decimal("2.5"), Decimal(3)]


def test_it_is_audited(flask, file):
    path = file("BDT,110,2024-05-01")
    flask("fx", "load", path)

    with db.any_org_work():
        ((actor, after),) = db.db.run(
            "select actor_type, after from audit_entry where action = 'fx_rates.loaded' and entity_id = %s",
            (path[-200:],),
        )
    assert (actor, after["new"]) == ("operator", 1)


def test_one_wrong_line_stores_nothing_and_is_named(flask, file):
    path = file("BIF,2900,2024-05-01", "BIF,0,2024-05-02")

    code, said = flask("fx", "load", path)

    assert (code, said) == (
        1,
        f"Error: {path}: line 3: '0' is not a positive decimal number. Nothing was stored.\n",
    )
    assert list_rates("BIF") == []


def test_tomorrows_rate_is_refused(flask, file):
    today, tomorrow = _today(), _today() + timedelta(days=1)

    assert flask("fx", "load", file(f"BMD,1,{tomorrow + timedelta(days=1)}"))[0] == 1
    assert flask("fx", "load", file(f"BMD,1,{today}"))[0] == 0


def test_a_history_of_many_portions_is_stored(flask, file, monkeypatch):
    monkeypatch.setattr(fx_intake, "_BATCH", 7)
    first = _today() - timedelta(days=49)

    code, said = flask("fx", "load", file(*(f"BOB,{6 + n / 100},{first + timedelta(days=n)}" for n in range(50))))

    assert (code, said.splitlines()[0]) == (0, f"50 new, 0 replaced, 0 known already; up to {_today()}")
    assert len(list_rates("BOB")) == 50


def test_a_url_is_fetched(flask):
    content = (
        b"<Envelope><Cube><Cube time='2019-05-06'><Cube currency='USD' rate='1.25'/>"
        b"<Cube currency='THB' rate='40'/><Cube currency='HRK' rate='7.4'/></Cube></Cube></Envelope>"
    )
    with serve_feed(content) as url:
        loaded = flask.json("fx", "load", url)

    assert loaded["skipped"] == ["HRK"]
    assert [rate for _, on, rate in list_rates("EUR", "THB") if str(on) == "2019-05-06"] == [
        Decimal("0.8"),
        Decimal(32),
    ]


@pytest.mark.parametrize(
    ("content", "status", "why"), [(b"", 503, "it responded 503"), (b"<html></html>", 200, "no rate")]
)
def test_a_url_without_rates_stores_nothing(flask, content, status, why):
    with serve_feed(content, status) as url:
        code, said = flask("fx", "load", url)

    assert code == 1
    assert why in said
    assert "Nothing was stored" in said


def test_a_file_that_is_not_there_or_too_long_is_one_error(flask, tmp_path, monkeypatch):
    missing = flask("fx", "load", str(tmp_path / "none.csv"))
    folder = flask("fx", "load", str(tmp_path))
    monkeypatch.setattr(fx_feed, "MAX_BYTES", 10)
    (tmp_path / "long.csv").write_bytes(b"x" * 11)
    too_long = flask("fx", "load", str(tmp_path / "long.csv"))

    assert [code for code, _ in (missing, folder, too_long)] == [1, 1, 1]
    assert "No such file" in missing[1]
    assert "longer than 10 bytes" in too_long[1]


def test_the_newest_of_each_are_listed(flask, file):
    flask("fx", "load", file("BSD,1,2024-05-01", "BSD,1.000001,2024-05-02", "BRL,5.4321,2024-05-01"))

    rates = {rate["currency"]: rate for rate in flask.json("fx", "list")}

    assert rates["BSD"] == {"currency": "BSD", "perUsd": "1.000001", "date": "2024-05-02"}
    assert rates["BRL"]["perUsd"] == "5.4321"
    assert flask("fx", "list")[0] == 0


def test_status_names_the_currencies_in_use_and_which_are_stale(flask, file, brand):
    brand.program()
    ben = brand.affiliate("ben")
    for currency in ("BYN", "BZD", "CDF", "CRC"):
        insert_conversion(brand, ben, currency=currency)
    days = {"BYN": 3, "BZD": 4}
    flask(
        "fx",
        "load",
        file(*(f"{code},2,{_today() - timedelta(days=age)}" for code, age in days.items()), f"CZK,22,{_today()}"),
    )
    flask("fx", "load", file(f"CDF,2800,{_today()}"))

    found = {age["currency"]: age for age in flask.json("fx", "status")}

    assert found["BYN"] == {
        "currency": "BYN",
        "newest": str(_today() - timedelta(days=3)),
        "ageDays": 3,
        "stale": False,
    }
    assert (found["BZD"]["ageDays"], found["BZD"]["stale"]) == (4, True)
    assert (found["CDF"]["ageDays"], found["CDF"]["stale"]) == (0, False)
    assert (found["CRC"]["newest"], found["CRC"]["ageDays"], found["CRC"]["stale"]) == (None, None, True)
    assert "CZK" not in found
    assert "USD" not in found


def test_status_for_a_person_begins_with_the_oldest(flask, brand):
    brand.program()
    insert_conversion(brand, brand.affiliate("ben"), currency="CLP")

    lines = flask("fx", "status")[1].splitlines()

    assert lines[0].split() == ["currency", "newest", "days", "old"]
    assert lines[1].split()[1:] == ["none", "stale"]


def test_a_currency_that_only_counts_is_in_use_too(flask, brand):
    brand.rows("update organization set home_currency = 'COP' where id = %s returning id", brand.id)
    brand.program(min_payout_cents=5, min_payout_currency="CVE")

    assert {"COP", "CVE"} <= {age["currency"] for age in flask.json("fx", "status")}


def test_the_age_of_rates_is_a_metric(app, brand, flask, file):
    brand.program()
    ben = brand.affiliate("ben")
    insert_conversion(brand, ben, currency="DKK")
    insert_conversion(brand, ben, currency="DOP")
    flask("fx", "load", file(f"DKK,6.4,{_today() - timedelta(days=2)}"))

    page = app.test_client().get("/metrics").text

    assert 'finderfee_fx_rate_age_days{currency="DKK"} 2.0' in page
    assert 'finderfee_fx_rate_age_days{currency="DOP"} +Inf' in page
