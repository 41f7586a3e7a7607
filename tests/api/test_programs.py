"""Programs and their sub-affiliate setting, through HTTP."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from models import db
from tests.api.lists import cursors_are_refused, trips_of
from tests.brands import Brand

MINIMAL = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
URL = "/api/v1/programs"


def _program(brand, **fields):
    return brand.post(URL, MINIMAL | fields)


def test_a_new_program_is_shown_with_every_field(brand):
    answer = _program(brand, name="  Café & Friends ", termsUrl="https://brand.test/terms", recurringMonths=0)

    assert answer.status_code == 201
    assert {name: answer.json[name] for name in answer.json if name not in ("id", "createdAt", "updatedAt")} == {
        "name": "Café & Friends",
        "slug": "cafe-friends",
        "description": None,
        "termsUrl": "https://brand.test/terms",
        "isActive": True,
        "defaultCommissionType": "Percentage",
        "defaultCommissionValue": 20,
        "defaultCommissionModel": "Cps",
        "saleCommissionType": None,
        "saleCommissionValue": None,
        "cookieWindowDays": 30,
        "recurringMonths": 0,
        "recurringDelayInvoices": 0,
        "attributionModel": "LastTouch",
        "autoApprove": False,
        "customDomain": None,
        "customDomainVerified": False,
        "networkVisibility": "Private",
        "isPubliclyDiscoverable": True,
        "budgetCents": None,
        "referralDestinationUrl": None,
        "minPayoutCents": None,
        "hostedCheckoutDoorEnabled": False,
        "hostedCheckoutDoorMode": "redirect",
        "hostedCheckoutThankYouUrl": None,
        "leadBountyCents": None,
        "clickRewardCents": None,
        "archivedAt": None,
    }
    assert answer.json["createdAt"].endswith("Z")
    assert brand.get(f"{URL}/{answer.json['id']}").json == answer.json


def test_creating_one_is_audited_and_fires_no_webhook(brand):
    answer = _program(brand)

    rows = brand.rows("select action, entity_type, entity_id, actor_type, after->>'name' from audit_entry")
    assert rows == [("program.created", "program", answer.json["id"], "api_key", "Spring")]
    assert brand.rows("select count(*) from event") == [(0,)]


def test_fractions_come_back_as_they_were_sent(brand):
    answer = _program(brand, defaultCommissionValue=12.345678)

    assert brand.get(f"{URL}/{answer.json['id']}").json["defaultCommissionValue"] == 12.345678


def test_a_slug_belongs_to_one_program_of_an_organization(brand, rival):
    first = _program(brand, slug="summer-sale")
    second = _program(brand, slug="summer-sale")
    elsewhere = _program(rival, slug="summer-sale")

    assert (first.status_code, elsewhere.status_code) == (201, 201)
    assert (second.status_code, second.json["error"], second.json["field"]) == (409, "slug_already_taken", "slug")


def test_a_slug_that_nobody_chose_makes_room_for_itself(brand):
    first, second = _program(brand), _program(brand)

    assert first.json["slug"] == "spring"
    assert second.status_code == 201
    assert second.json["slug"].startswith("spring-")


@pytest.mark.parametrize(("name", "slug"), [("日本語", "program"), ("X", "program-x"), ("a" * 200, "a" * 48)])
def test_every_name_makes_a_slug(brand, name, slug):
    assert _program(brand, name=name).json["slug"] == slug


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"defaultCommissionModel": "Cpc"}, "invalid_commission_type"),
        ({"defaultCommissionModel": "Cpl"}, "invalid_commission_type"),
        ({"defaultCommissionValue": 100.01}, "percentage_out_of_range"),
        ({"defaultCommissionValue": -1}, "percentage_out_of_range"),
        ({"defaultCommissionType": "Fixed", "defaultCommissionValue": 1_000_000.01}, "fixed_commission_out_of_range"),
        ({"defaultCommissionType": "Fixed", "defaultCommissionValue": -1}, "fixed_commission_out_of_range"),
        ({"defaultCommissionType": "Fixed", "defaultCommissionValue": 10**18}, "fixed_commission_out_of_range"),
        ({"leadBountyCents": 9}, "lead_bounty_out_of_range"),
        ({"leadBountyCents": 100_001}, "lead_bounty_out_of_range"),
        ({"leadBountyCents": -10}, "lead_bounty_out_of_range"),
        ({"clickRewardCents": 100_001}, "click_reward_out_of_range"),
        ({"clickRewardCents": -1}, "click_reward_out_of_range"),
        ({"budgetCents": 10_000_000_001}, "budget_out_of_range"),
        ({"budgetCents": -1}, "budget_out_of_range"),
        ({"budgetCents": 10**18}, "budget_out_of_range"),
        ({"hostedCheckoutDoorMode": "popup"}, "invalid_hosted_checkout_door_mode"),
        ({"hostedCheckoutDoorMode": 5}, "invalid_hosted_checkout_door_mode"),
        ({"hostedCheckoutDoorMode": ["email"]}, "invalid_hosted_checkout_door_mode"),
        ({"hostedCheckoutThankYouUrl": "javascript:alert(1)"}, "invalid_hosted_checkout_thank_you_url"),
        ({"hostedCheckoutThankYouUrl": "https://["}, "invalid_hosted_checkout_thank_you_url"),
        ({"hostedCheckoutThankYouUrl": 7}, "invalid_hosted_checkout_thank_you_url"),
    ],
)
def test_what_a_program_cannot_be_is_refused_by_its_code(brand, fields, code):
    answer = _program(brand, **fields)

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert brand.rows("select count(*) from program") == [(0,)]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"defaultCommissionValue": 1000.01}, "unit_fee_out_of_range"),
        ({"saleCommissionType": "Percentage"}, "sale_commission_incomplete"),
        ({"saleCommissionValue": 5}, "sale_commission_incomplete"),
        ({"saleCommissionType": "Percentage", "saleCommissionValue": 101}, "percentage_out_of_range"),
        ({"saleCommissionType": "Fixed", "saleCommissionValue": 1_000_001}, "fixed_commission_out_of_range"),
    ],
)
@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_what_a_click_or_lead_program_cannot_be_is_refused(brand, model, fields, code):
    base = {"defaultCommissionModel": model, "defaultCommissionType": "Fixed", "defaultCommissionValue": 1}

    answer = _program(brand, **base | fields)

    assert (answer.status_code, answer.json["error"]) == (400, code)


def test_the_edges_of_the_limits_are_inside(brand):
    fixed = _program(brand, defaultCommissionType="Fixed", defaultCommissionValue=1_000_000, budgetCents=10**10)
    bounty = _program(brand, leadBountyCents=100_000, clickRewardCents=1)
    least = _program(brand, leadBountyCents=10, clickRewardCents=100_000, defaultCommissionValue=100)

    assert [answer.status_code for answer in (fixed, bounty, least)] == [201, 201, 201]


def test_a_limit_names_the_home_currency_and_follows_its_newest_rate(brand):
    brand.set(currency="MOP")
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into fx_rate values ('MOP', '2026-01-01', 5), ('MOP', '2026-01-02', 0.5) on conflict do nothing"
        )

    inside = _program(brand, budgetCents=5_000_000_000)
    outside = _program(brand, budgetCents=5_000_000_001)

    assert inside.status_code == 201
    assert (outside.json["error"], outside.json["homeCurrency"]) == ("budget_out_of_range", "MOP")


def test_without_a_rate_an_amount_is_taken_as_it_is(brand):
    brand.set(currency="ISK")

    taken = _program(brand, budgetCents=1_300_000_000_000, leadBountyCents=1, clickRewardCents=1)
    absurd = _program(brand, budgetCents=10**18)

    assert taken.status_code == 201
    assert (absurd.status_code, absurd.json["error"]) == (400, "budget_out_of_range")


def test_click_rewards_make_a_program_invite_only(brand):
    shown = _program(
        brand, clickRewardCents=5, autoApprove=True, networkVisibility="Networked", isPubliclyDiscoverable=True
    ).json

    assert (shown["autoApprove"], shown["networkVisibility"], shown["isPubliclyDiscoverable"]) == (
        False,
        "InviteOnly",
        False,
    )


def test_listing_in_the_network_is_saved_as_private(brand):
    answer = _program(brand, networkVisibility="Networked")

    assert (answer.status_code, answer.json["networkVisibility"]) == (201, "Private")


@pytest.mark.parametrize(
    ("model", "kept"),
    [("Cpc", (50, None, "Percentage", 5)), ("Cpl", (None, 7, "Percentage", 5))],
)
def test_a_leg_that_the_primary_pays_already_is_dropped(brand, model, kept):
    shown = _program(
        brand,
        defaultCommissionModel=model,
        defaultCommissionType="Fixed",
        defaultCommissionValue=1.5,
        leadBountyCents=50,
        clickRewardCents=7,
        saleCommissionType="Percentage",
        saleCommissionValue=5,
    ).json

    legs = ("leadBountyCents", "clickRewardCents", "saleCommissionType", "saleCommissionValue")
    assert tuple(shown[leg] for leg in legs) == kept


def test_a_sale_program_has_no_sale_leg_beside_it(brand):
    shown = _program(brand, saleCommissionType="Percentage", saleCommissionValue=5).json

    assert (shown["saleCommissionType"], shown["saleCommissionValue"]) == (None, None)


def test_zero_and_empty_clear(brand):
    shown = _program(brand, leadBountyCents=0, clickRewardCents=0, hostedCheckoutThankYouUrl="").json

    assert (shown["leadBountyCents"], shown["clickRewardCents"], shown["hostedCheckoutThankYouUrl"]) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"name": None},
        {"name": "   "},
        {"name": 5},
        {"name": "x" * 201},
        {"name": "nul\x00"},
        {"name": ["Spring"]},
        {"slug": "No Slug"},
        {"slug": "ab"},
        {"slug": "-ab-"},
        {"slug": "x" * 65},
        {"description": {"de": "nein"}},
        {"termsUrl": "ftp://brand.test"},
        {"termsUrl": "https://["},
        {"termsUrl": "https:// brand.test"},
        {"referralDestinationUrl": "brand.test"},
        {"defaultCommissionType": "percentage"},
        {"defaultCommissionType": None},
        {"defaultCommissionValue": "20"},
        {"defaultCommissionValue": True},
        {"defaultCommissionValue": None},
        {"defaultCommissionValue": 0.1234567},
        {"defaultCommissionModel": "Hybrid"},
        {"cookieWindowDays": 0},
        {"cookieWindowDays": 30.5},
        {"cookieWindowDays": 10**18},
        {"recurringMonths": -1},
        {"recurringMonths": 10**18},
        {"recurringDelayInvoices": -1},
        {"attributionModel": "MiddleTouch"},
        {"autoApprove": "yes"},
        {"autoApprove": 1},
        {"networkVisibility": "Public"},
        {"budgetCents": 1.5},
        {"budgetCents": [1]},
        {"minPayoutCents": -1},
        {"minPayoutCents": 10**18},
        {"hostedCheckoutDoorEnabled": "true"},
    ],
)
def test_a_malformed_field_is_named_in_problem_details(brand, fields):
    answer = _program(brand, **fields)

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    assert list(answer.json["errors"]) == list(fields)
    assert brand.rows("select count(*) from program") == [(0,)]


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b'"x"', b'{"name": NaN}', b"\xff", b"[" * 5000])
def test_what_is_no_object_is_refused(brand, raw):
    assert brand.post(URL, raw).status_code == 400


def test_unknown_fields_are_tolerated(brand):
    assert _program(brand, surprise=[1], id="mine").status_code == 201


def test_a_repeated_request_with_a_key_makes_one_program(brand):
    first = brand.post(URL, MINIMAL, Idempotency_Key="once")
    again = brand.post(URL, MINIMAL, Idempotency_Key="once")
    other = brand.post(URL, MINIMAL | {"name": "Other"}, Idempotency_Key="once")

    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert brand.rows("select count(*) from program") == [(1,)]


def test_plans_and_scopes_are_asked_for(app, brand):
    free, reader = Brand.create(app, plan="Free"), brand.other_key(scope="read")

    assert _program(free).json["error"] == "plan_tier_required"
    assert free.get(URL).status_code == 402
    assert _program(reader).status_code == 403
    assert reader.get(URL).status_code == 200


def test_the_list_walks_all_programs_newest_first(brand, rival):
    made = [str(brand.program()) for _ in range(5)]
    rival.program()

    first = brand.get(f"{URL}?take=2").json
    second = brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json
    third = brand.get(f"{URL}?take=2&cursor={second['nextCursor']}").json

    seen = [item["id"] for page in (first, second, third) for item in page["items"]]
    assert seen == made[::-1]
    assert [page["hasMore"] for page in (first, second, third)] == [True, True, False]
    assert third["nextCursor"] is None


def test_programs_of_one_moment_are_all_listed(brand):
    moment = datetime.now(UTC)
    made = {str(brand.program(created_at=moment)) for _ in range(3)}

    first = brand.get(f"{URL}?take=2").json
    second = brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json

    assert {item["id"] for item in first["items"] + second["items"]} == made


def test_archived_programs_are_listed_on_request_and_readable(brand):
    living, archived = str(brand.program()), str(brand.program(archived_at=datetime.now(UTC)))

    plain = brand.get(URL).json["items"]
    everything = brand.get(f"{URL}?includeArchived=true").json["items"]

    assert [item["id"] for item in plain] == [living]
    assert [item["id"] for item in everything] == [archived, living]
    assert brand.get(f"{URL}/{archived}").json["archivedAt"] is not None


@pytest.mark.parametrize(
    "query", ["take=0", "take=-1", "take=ten", "take=1.5", "take=", "take=１", "includeArchived=1", "cursor=%00"]
)
def test_a_query_that_says_nothing_sensible_is_refused(brand, query):
    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_more_than_the_maximum_is_the_maximum(brand):
    started = datetime.now(UTC)
    for number in range(201):
        brand.program(created_at=started + timedelta(seconds=number))

    assert len(brand.get(f"{URL}?take=99999999999999999999").json["items"]) == 200
    assert len(brand.get(URL).json["items"]) == 50


def test_a_cursor_is_good_for_its_own_list_alone(brand, rival):
    for owner in (brand, rival):
        owner.program()
        owner.program()
        owner.affiliate("ben")
        owner.affiliate("rita")

    cursors_are_refused(brand, URL, foreign=(rival, URL), other=(brand, "/api/v1/affiliates"))


def test_a_list_costs_the_same_for_one_program_and_for_many(brand):
    brand.program()
    one = trips_of(lambda: brand.get(URL))
    for _ in range(9):
        brand.program()

    assert trips_of(lambda: brand.get(URL)) == one


@pytest.mark.parametrize("program_id", ["nonsense", "1", "00000000-0000-0000-0000-00000000000g", "%00"])
def test_what_is_no_id_names_no_program(brand, program_id):
    answer = brand.get(f"{URL}/{program_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


class TestSubAffiliateConfig:
    """GET and PUT /api/v1/programs/{id}/sub-affiliate-config."""

    def _url(self, program_id):
        return f"{URL}/{program_id}/sub-affiliate-config"

    def test_is_off_at_first(self, brand):
        assert brand.get(self._url(brand.program())).json == {"enabled": False, "percent": 0}

    @pytest.mark.parametrize(("percent", "shown"), [(10, 10), (12.5, 12.5), (0.0001, 0.0001), (100, 100), (7.0, 7)])
    def test_is_set_and_audited(self, brand, percent, shown):
        program_id = brand.program(sub_affiliate_percent=Decimal("2.5"))

        answer = brand.call("PUT", self._url(program_id), {"enabled": True, "percent": percent})

        assert (answer.status_code, answer.json) == (200, {"enabled": True, "percent": shown})
        assert isinstance(answer.json["percent"], type(shown))
        assert brand.get(self._url(program_id)).json == answer.json
        assert brand.rows("select action, entity_id, before, after from audit_entry") == [
            (
                "program.sub_affiliate_config_changed",
                str(program_id),
                {"enabled": False, "percent": 2.5},
                {"enabled": True, "percent": shown},
            )
        ]

    def test_keeps_its_percent_while_it_is_off(self, brand):
        program_id = brand.program()

        brand.call("PUT", self._url(program_id), {"enabled": False, "percent": 30})

        assert brand.get(self._url(program_id)).json == {"enabled": False, "percent": 30}

    @pytest.mark.parametrize("raw", [b"", b"{}", b"null"])
    def test_needs_a_body(self, brand, raw):
        answer = brand.call("PUT", self._url(brand.program()), raw)

        assert (answer.status_code, answer.json["error"]) == (400, "body_required")

    @pytest.mark.parametrize("percent", [-0.1, 100.1, "10", None, True, [], 0.00001, 10**18, 1e300])
    def test_refuses_what_is_no_percentage(self, brand, percent):
        program_id = brand.program()

        answer = brand.call("PUT", self._url(program_id), {"enabled": True, "percent": percent})

        assert (answer.status_code, answer.json["error"]) == (400, "unsupported_value")
        assert brand.get(self._url(program_id)).json == {"enabled": False, "percent": 0}

    @pytest.mark.parametrize("enabled", ["true", 1, None])
    def test_refuses_what_is_neither_on_nor_off(self, brand, enabled):
        answer = brand.call("PUT", self._url(brand.program()), {"enabled": enabled, "percent": 1})

        assert (answer.status_code, answer.json["error"]) == (400, "unsupported_value")

    @pytest.mark.parametrize("whose", ["a rival's", "nobody's", "no id"])
    def test_of_somebody_else_is_an_empty_404(self, brand, rival, whose):
        ids = {"a rival's": rival.program(), "nobody's": "01890000-0000-7000-8000-000000000000", "no id": "x"}

        shown = brand.get(self._url(ids[whose]))
        changed = brand.call("PUT", self._url(ids[whose]), {"enabled": True, "percent": 5})

        assert (shown.status_code, shown.data) == (404, b"")
        assert (changed.status_code, changed.data) == (404, b"")
        assert rival.rows("select sub_affiliate_enabled from program") == [(False,)]

    def test_is_on_every_plan_and_written_with_read_write(self, app, brand):
        free = Brand.create(app, plan="Free")
        program_id = free.program()
        reader = brand.other_key(scope="read")

        assert free.call("PUT", self._url(program_id), {"enabled": True, "percent": 5}).status_code == 200
        assert reader.get(self._url(brand.program())).status_code == 200
        assert reader.call("PUT", self._url(brand.program()), {"enabled": True, "percent": 5}).status_code == 403
