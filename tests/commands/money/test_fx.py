"""`flask fx`. Rates are shared by all organizations, so every test uses its own currencies."""

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
def write_rates(tmp_path):
    """Return a function that writes rows to a CSV file and returns its path."""

    def write_file(*rows: str) -> str:
        path = tmp_path / "rates.csv"
        path.write_text("\n".join(["currency,perUsd,date", *rows]))
        return str(path)

    return write_file


def test_rates_of_a_file_are_stored(flask, write_rates):
    code, output = flask("fx", "load", write_rates("AOA,912.5,2024-05-01", "AOA,913,2024-05-02"))

    assert (code, output) == (0, "2 new, 0 replaced, 0 known already; up to 2024-05-02\nNext: flask fx status\n")
    assert [(str(on), rate) for _, on, rate in list_rates("AOA")] == [
        ("2024-05-01", Decimal("912.5")),
        ("2024-05-02", Decimal(913)),
    ]


def test_republished_rate_replaces_the_earlier_one(flask, write_rates):
    flask("fx", "load", write_rates("BAM,1,2024-05-01", "BAM,2,2024-05-02"))

    loaded = flask.json("fx", "load", write_rates("BAM,1,2024-05-01", "BAM,2.5,2024-05-02", "BAM,3,2024-05-03"))

    assert loaded == {"new": 1, "replaced": 1, "known": 1, "newest": "2024-05-03", "skipped": []}
    assert [rate for *_, rate in list_rates("BAM")] == [Decimal(1), Decimal("2.5"), Decimal(3)]


def test_load_is_audited(flask, write_rates):
    path = write_rates("BDT,110,2024-05-01")
    flask("fx", "load", path)

    with db.any_org_work():
        ((actor, after),) = db.db.run(
            "select actor_type, after from audit_entry where action = 'fx_rates.loaded' and entity_id = %s",
            (path[-200:],),
        )
    assert (actor, after["new"]) == ("operator", 1)


def test_invalid_line_is_reported_and_nothing_is_stored(flask, write_rates):
    path = write_rates("BIF,2900,2024-05-01", "BIF,0,2024-05-02")

    code, output = flask("fx", "load", path)

    assert (code, output) == (
        1,
        f"Error: {path}: line 3: '0' is not a positive decimal number. Nothing was stored.\n",
    )
    assert list_rates("BIF") == []


def test_future_rate_is_refused(flask, write_rates):
    today, tomorrow = _today(), _today() + timedelta(days=1)

    assert flask("fx", "load", write_rates(f"BMD,1,{tomorrow + timedelta(days=1)}"))[0] == 1
    assert flask("fx", "load", write_rates(f"BMD,1,{today}"))[0] == 0


def test_file_of_several_batches_is_stored(flask, write_rates, monkeypatch):
    monkeypatch.setattr(fx_intake, "_BATCH", 7)
    first = _today() - timedelta(days=49)

    code, output = flask(
        "fx", "load", write_rates(*(f"BOB,{6 + n / 100},{first + timedelta(days=n)}" for n in range(50)))
    )

    assert (code, output.splitlines()[0]) == (0, f"50 new, 0 replaced, 0 known already; up to {_today()}")
    assert len(list_rates("BOB")) == 50


def test_rates_are_loaded_from_a_url(flask):
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
def test_url_without_rates_stores_nothing(flask, content, status, why):
    with serve_feed(content, status) as url:
        code, output = flask("fx", "load", url)

    assert code == 1
    assert why in output
    assert "Nothing was stored" in output


def test_missing_or_too_long_file_is_an_error(flask, tmp_path, monkeypatch):
    missing = flask("fx", "load", str(tmp_path / "none.csv"))
    folder = flask("fx", "load", str(tmp_path))
    monkeypatch.setattr(fx_feed, "MAX_BYTES", 10)
    (tmp_path / "long.csv").write_bytes(b"x" * 11)
    too_long = flask("fx", "load", str(tmp_path / "long.csv"))

    assert [code for code, _ in (missing, folder, too_long)] == [1, 1, 1]
    assert "No such file" in missing[1]
    assert "longer than 10 bytes" in too_long[1]


def test_list_shows_the_newest_rate_per_currency(flask, write_rates):
    flask("fx", "load", write_rates("BSD,1,2024-05-01", "BSD,1.000001,2024-05-02", "BRL,5.4321,2024-05-01"))

    rates = {rate["currency"]: rate for rate in flask.json("fx", "list")}

    assert rates["BSD"] == {"currency": "BSD", "perUsd": "1.000001", "date": "2024-05-02"}
    assert rates["BRL"]["perUsd"] == "5.4321"
    assert flask("fx", "list")[0] == 0


def test_status_lists_currencies_in_use_and_marks_stale_rates(flask, write_rates, brand):
    brand.program()
    ben = brand.affiliate("ben")
    for currency in ("BYN", "BZD", "CDF", "CRC"):
        insert_conversion(brand, ben, currency=currency)
    days = {"BYN": 3, "BZD": 4}
    flask(
        "fx",
        "load",
        write_rates(
            *(f"{code},2,{_today() - timedelta(days=age)}" for code, age in days.items()), f"CZK,22,{_today()}"
        ),
    )
    flask("fx", "load", write_rates(f"CDF,2800,{_today()}"))

    ages = {age["currency"]: age for age in flask.json("fx", "status")}

    assert ages["BYN"] == {
        "currency": "BYN",
        "newest": str(_today() - timedelta(days=3)),
        "ageDays": 3,
        "stale": False,
    }
    assert (ages["BZD"]["ageDays"], ages["BZD"]["stale"]) == (4, True)
    assert (ages["CDF"]["ageDays"], ages["CDF"]["stale"]) == (0, False)
    assert (ages["CRC"]["newest"], ages["CRC"]["ageDays"], ages["CRC"]["stale"]) == (None, None, True)
    assert "CZK" not in ages
    assert "USD" not in ages


def test_status_table_lists_the_oldest_first(flask, brand):
    brand.program()
    insert_conversion(brand, brand.affiliate("ben"), currency="CLP")

    lines = flask("fx", "status")[1].splitlines()

    assert lines[0].split() == ["currency", "newest", "days", "old"]
    assert lines[1].split()[1:] == ["none", "stale"]


def test_home_and_minimum_payout_currencies_are_in_use(flask, brand):
    brand.rows("update organization set home_currency = 'COP' where id = %s returning id", brand.id)
    brand.program(min_payout_cents=5, min_payout_currency="CVE")

    assert {"COP", "CVE"} <= {age["currency"] for age in flask.json("fx", "status")}


def test_age_of_rates_is_a_metric(app, brand, flask, write_rates):
    brand.program()
    ben = brand.affiliate("ben")
    insert_conversion(brand, ben, currency="DKK")
    insert_conversion(brand, ben, currency="DOP")
    flask("fx", "load", write_rates(f"DKK,6.4,{_today() - timedelta(days=2)}"))

    page = app.test_client().get("/metrics").text

    assert 'finderfee_fx_rate_age_days{currency="DKK"} 2.0' in page
    assert 'finderfee_fx_rate_age_days{currency="DOP"} +Inf' in page
