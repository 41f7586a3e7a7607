"""The lists of recruits and their earnings, through HTTP."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.support.api.recruiting import RECRUITS, run_for_all_tenants, update
from tests.support.rows.brands import Partner
from tests.support.rows.program_rows import insert_conversion, store_rate, time_ago

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
PROBLEM = "application/problem+json"


class TestRecruits:
    """GET /api/v1/me/sub-affiliate/recruits."""

    def test_are_listed_with_their_and_the_recruiters_earnings(self, scene):
        ben = scene.recruit("ben", created_at=datetime(2026, 3, 1, 12, tzinfo=UTC))
        scene.sell(ben, 2000, 200)
        scene.sell(ben, 500, 50, reversed_cents=20)

        assert scene.recruits() == {
            "items": [
                {
                    "affiliateId": str(ben),
                    "email": "ben@example.com",
                    "fullName": "Ben",
                    "status": "Approved",
                    "totalCommissionGeneratedCents": 2480,
                    "overrideEarnedCents": 230,
                    "currency": "USD",
                    "joinedAt": "2026-03-01T12:00:00.000Z",
                    "unconvertibleByCurrency": {},
                }
            ],
            "nextCursor": None,
            "hasMore": False,
        }

    def test_earnings_come_from_real_sales(self, scene, drain):
        scene.recruit("ben")
        scene.brand.sale(affiliateSlug="ben", amountCents=10_000, externalEventId="order-a")
        drain()
        scene.brand.refund("order-a", 4_000)
        drain()

        (ben,) = scene.recruits()["items"]

        assert (ben["totalCommissionGeneratedCents"], ben["overrideEarnedCents"]) == (1_200, 120)

    @pytest.mark.parametrize(
        ("status", "is_listed"),
        [("Approved", True), ("Paused", True), ("Banned", True), ("Pending", False), ("Rejected", False)],
    )
    def test_only_accepted_affiliates_are_listed(self, scene, status, is_listed):
        ben = scene.recruit("ben", status=status)
        scene.sell(ben, 100, 10)

        assert [item["overrideEarnedCents"] for item in scene.recruits()["items"]] == [10] * is_listed
        assert [item["status"] for item in scene.drilldown().json] == [status] * is_listed

    def test_only_the_callers_recruits_are_listed(self, scene, rival):
        zoe = scene.brand.affiliate("zoe")
        scene.recruit("ben", by=zoe)
        scene.recruit("gone", deleted_at=time_ago(days=1))
        rival.program()
        scene.recruit("theirs", brand=rival, by=rival.affiliate("other"))

        assert scene.recruits()["items"] == []

    def test_come_from_every_tenant_newest_first(self, scene, rival):
        rival.program()
        rivals_ann_id = rival.affiliate("annie", email=scene.email)
        update(rival, home_currency="EUR")
        scene.recruit("old", created_at=time_ago(days=3))
        scene.recruit("there", brand=rival, by=rivals_ann_id, created_at=time_ago(days=2))
        scene.recruit("new", created_at=time_ago(days=1))

        items = scene.recruits()["items"]

        assert [(item["email"], item["currency"]) for item in items] == [
            ("new@example.com", "USD"),
            ("there@example.com", "EUR"),
            ("old@example.com", "USD"),
        ]

    def test_unverified_email_lists_no_recruits(self, scene):
        scene.recruit("ben")

        assert scene.recruits(caller=Partner(scene.brand.app, scene.email, is_email_verified=False))["items"] == []

    def test_account_keeps_its_recruits_while_email_is_unverified(self, scene):
        scene.recruit("ben")
        scene.recruits()

        unverified = scene.recruits(caller=Partner(scene.brand.app, scene.email, is_email_verified=False))

        assert len(unverified["items"]) == 1

    @pytest.mark.parametrize("email", ["%@example.com", "ann+x@example.com", "ann_@example.com", "'--"])
    def test_wildcards_and_other_tags_match_no_recruits(self, scene, email):
        scene.recruit("ben")

        assert scene.recruits(caller=Partner(scene.brand.app, email))["items"] == []

    def test_callers_email_matches_in_any_case(self, scene):
        scene.recruit("ben")

        assert len(scene.recruits(caller=Partner(scene.brand.app, scene.email.upper()))["items"]) == 1

    def test_come_in_pages(self, scene):
        for number in range(5):
            scene.recruit(f"ben-{number}", created_at=time_ago(hours=number))

        emails, query = [], "?take=2"
        while query:
            page = scene.recruits(query)
            emails.append([item["email"].partition("@")[0] for item in page["items"]])
            query = page["nextCursor"] and f"?take=2&cursor={page['nextCursor']}"

        assert emails == [["ben-0", "ben-1"], ["ben-2", "ben-3"], ["ben-4"]]

    @pytest.mark.parametrize("query", ["?take=0", "?take=-1", "?take=x", "?take=1.5", "?cursor=x", "?cursor=%00"])
    def test_malformed_page_is_refused(self, scene, query):
        answer = scene.ann.get(RECRUITS + query)

        assert (answer.status_code, answer.content_type) == (400, PROBLEM)

    @pytest.mark.parametrize("take", [10**18, 1000])
    def test_page_has_at_most_two_hundred_rows(self, scene, take):
        scene.recruit("ben")

        assert len(scene.recruits(f"?take={take}")["items"]) == 1

    def test_cursor_of_another_caller_is_refused(self, scene, rival):
        scene.recruit("ben")
        scene.recruit("cleo")
        cursor = scene.recruits("?take=1")["nextCursor"]
        other = Partner(scene.brand.app, f"zoe-{uuid4().hex}@example.com")

        assert other.get(f"{RECRUITS}?cursor={cursor}").status_code == 400


class TestSums:
    """Amounts counted in both lists."""

    @pytest.fixture(autouse=True)
    def _ben(self, scene):
        self.scene = scene
        self.ben = scene.recruit("ben")

    def _sums(self):
        (recruit,), (brands_row,) = self.scene.recruits()["items"], self.scene.drilldown().json
        amounts = recruit["totalCommissionGeneratedCents"], recruit["overrideEarnedCents"]
        assert (brands_row["totalCommissionCents"], brands_row["overrideEarnedCents"]) == amounts
        assert brands_row["unconvertibleByCurrency"] == recruit["unconvertibleByCurrency"]
        return *amounts, recruit["unconvertibleByCurrency"]

    def test_test_sales_are_excluded(self):
        self.scene.sell(self.ben, 1000, 100, is_test=True)

        assert self._sums() == (0, 0, {})

    @pytest.mark.parametrize("status", ["Denied", "Invalidated"])
    def test_denied_and_quarantined_sales_are_excluded(self, status):
        self.scene.sell(self.ben, 1000, 100, status=status)
        self.scene.sell(self.ben, 10, 1, status="Paid")

        assert self._sums() == (10, 1, {})

    def test_recruits_own_override_earnings_are_excluded(self):
        cleo = self.scene.recruit("cleo", by=self.ben)
        parent_id = self.scene.sell(cleo, 1000)
        insert_conversion(self.scene.brand, self.ben, source="override", commission_cents=100, parent_id=parent_id)

        assert self._sums() == (0, 0, {})

    def test_recruiters_own_sales_are_excluded(self):
        self.scene.sell(self.scene.ann_id, 1000)

        assert self._sums() == (0, 0, {})

    def test_overrides_of_a_former_recruiter_are_excluded(self):
        zoe = self.scene.brand.affiliate("zoe")
        parent_id = self.scene.sell(self.ben, 1000)
        insert_conversion(self.scene.brand, zoe, source="override", commission_cents=100, parent_id=parent_id)

        assert self._sums() == (1000, 0, {})

    def test_other_currencies_are_converted_at_the_rate_of_the_sale_date(self):
        for day, per_usd in ((1, "2"), (10, "4")):
            store_rate("TOP", per_usd, datetime(1994, 5, day, tzinfo=UTC))
        self.scene.sell(self.ben, 1000, 100, currency="TOP", occurred_at=datetime(1994, 5, 4, 23, tzinfo=UTC))
        self.scene.sell(self.ben, 1000, 100, currency="TOP", occurred_at=datetime(1994, 5, 10, tzinfo=UTC))
        self.scene.sell(self.ben, 7)

        assert self._sums() == (500 + 250 + 7, 50 + 25, {})

    def test_each_sale_is_rounded_half_to_even(self):
        store_rate("TOP", "2", datetime(1994, 6, 1, tzinfo=UTC))
        for cents, override_cents in ((1, 0), (3, 1), (5, 3), (1, 0)):
            self.scene.sell(
                self.ben, cents, override_cents, currency="TOP", occurred_at=datetime(1994, 6, 1, tzinfo=UTC)
            )

        assert self._sums() == (0 + 2 + 2 + 0, 0 + 2, {})

    @pytest.mark.parametrize(("currency", "cents"), [("VUV", 150), ("TND", 1500)])
    def test_minor_units_of_both_currencies_are_applied(self, currency, cents):
        store_rate(currency, "1.5", datetime(1994, 7, 1, tzinfo=UTC))
        self.scene.sell(self.ben, cents, currency=currency, occurred_at=datetime(1994, 7, 1, tzinfo=UTC))

        assert self._sums() == ({"VUV": 10_000, "TND": 100}[currency], 0, {})

    def test_home_currency_may_differ(self):
        store_rate("VUV", "100", datetime(1994, 8, 1, tzinfo=UTC))
        store_rate("TOP", "2", datetime(1994, 8, 1, tzinfo=UTC))
        update(self.scene.brand, home_currency="VUV")
        for currency in ("USD", "TOP", "VUV"):
            self.scene.sell(self.ben, 200, currency=currency, occurred_at=datetime(1994, 8, 2, tzinfo=UTC))

        assert self._sums() == (200 + 100 + 200, 0, {})

    def test_amounts_without_a_fresh_rate_are_reported_separately(self):
        store_rate("TOP", "2", datetime(1994, 9, 1, tzinfo=UTC))
        self.scene.sell(self.ben, 1000, 100, currency="TOP", occurred_at=datetime(1994, 9, 5, tzinfo=UTC))
        self.scene.sell(self.ben, 30, 3, currency="TOP", occurred_at=datetime(1994, 8, 31, tzinfo=UTC))
        self.scene.sell(self.ben, 6, 2, currency="TOP", occurred_at=datetime(1994, 9, 4, tzinfo=UTC))
        self.scene.sell(self.ben, 5)

        assert self._sums() == (5 + 3, 1, {"TOP": {"commissionCents": 1030, "overrideCents": 103}})

    def test_largest_amounts_are_exact(self):
        max_cents = 1_000_000_000_000
        store_rate("TOP", "0.000000000003", datetime(1994, 10, 1, tzinfo=UTC))
        for _ in range(3):
            self.scene.sell(self.ben, max_cents, amount_cents=max_cents)
        self.scene.sell(self.ben, 3, currency="TOP", occurred_at=datetime(1994, 10, 1, tzinfo=UTC))

        assert self._sums() == (3 * max_cents + 10**12, 0, {})


class TestDrilldown:
    """GET /api/v1/affiliates/{id}/sub-affiliates."""

    def test_is_a_flat_array_newest_first(self, scene):
        old = scene.recruit("old", created_at=time_ago(days=2))
        new = scene.recruit("new", status="Banned")
        scene.sell(old, 1000, 100)

        answer = scene.drilldown()

        shared = {"currency": "USD", "unconvertibleByCurrency": {}}
        assert answer.json == [
            {"id": str(new), "email": "new@example.com", "fullName": "New", "status": "Banned"}
            | {"totalCommissionCents": 0, "overrideEarnedCents": 0}
            | shared,
            {"id": str(old), "email": "old@example.com", "fullName": "Old", "status": "Approved"}
            | {"totalCommissionCents": 1000, "overrideEarnedCents": 100}
            | shared,
        ]

    def test_is_empty_without_recruits(self, scene):
        assert (scene.drilldown().status_code, scene.drilldown().json) == (200, [])

    def test_every_plan_and_role_can_read(self, scene):
        scene.brand.set(plan="Free")
        read_key = scene.brand.other_key(scope="read")

        answers = [scene.drilldown(brand=caller) for caller in (scene.brand, read_key, scene.brand.person("Viewer"))]

        assert [answer.status_code for answer in answers] == [200] * 3

    @pytest.mark.parametrize("case", ["other tenant's", "unknown", "deleted", "malformed"])
    def test_other_affiliates_recruits_return_404(self, scene, rival, case):
        rival.program()
        ids = {
            "other tenant's": rival.affiliate("ben"),
            "unknown": UNKNOWN_ID,
            "deleted": scene.ann_id,
            "malformed": "x%00",
        }
        if case == "deleted":
            run_for_all_tenants("update affiliate set deleted_at = now() where id = %s", scene.ann_id)

        answer = scene.drilldown(ids[case])

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")

    def test_affiliate_token_is_refused(self, scene):
        answer = scene.ann.get(f"/api/v1/affiliates/{scene.ann_id}/sub-affiliates")

        assert (answer.status_code, answer.data) == (401, b"")
