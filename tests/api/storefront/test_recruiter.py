"""The recruiter of an applicant, through HTTP."""

from uuid import uuid4

import pytest

from models import db
from tests.support.api.applications import apply


def _rows(brand, columns):
    return brand.rows(f"select {columns} from affiliate where source = 'Public' order by created_at")


class TestRecruiter:
    """recruitedBy and recruitedByAffiliateId."""

    @pytest.fixture(autouse=True)
    def _rita(self, brand):
        brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
        self.brand = brand
        self.rita = brand.affiliate("rita")

    def _bound(self, **fields):
        assert apply(self.brand, **fields).status_code == 200
        return _rows(self.brand, "recruited_by_affiliate_id")[-1][0]

    @pytest.mark.parametrize("reference", ["rita", " RITA ", "id"])
    def test_is_named_by_slug_or_id(self, reference):
        assert self._bound(recruitedBy=str(self.rita) if reference == "id" else reference) == self.rita

    def test_is_named_by_the_legacy_field(self):
        assert self._bound(recruitedByAffiliateId=str(self.rita)) == self.rita

    def test_new_field_wins_over_the_legacy_one(self):
        ben = self.brand.affiliate("ben")

        assert self._bound(recruitedBy="ben", recruitedByAffiliateId=str(self.rita)) == ben

    @pytest.mark.parametrize(
        "reference",
        ["nobody", "01890000-0000-7000-8000-000000000000", "", "x" * 5000, "'; --", "日本", "%", "rit_", "rita\x00"],
    )
    def test_that_nobody_is_is_dropped(self, reference):
        assert self._bound(recruitedBy=reference) is None

    @pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
    def test_who_is_not_approved_is_dropped(self, status):
        self.brand.affiliate("ben", status=status, approved_at=None)

        assert self._bound(recruitedBy="ben") is None

    def test_of_another_campaign_is_dropped(self):
        elsewhere = self.brand.program(sub_affiliate_enabled=True)
        self.brand.programs.remove(elsewhere)
        self.brand.affiliate("ben", program_id=elsewhere)

        assert self._bound(recruitedBy="ben") is None

    def test_of_another_tenant_is_dropped(self, rival):
        rival.program()

        assert self._bound(recruitedBy=str(rival.affiliate("ben"))) is None

    def test_who_is_the_applicant_is_dropped(self):
        self.brand.affiliate("gina", email="gina.g@gmail.com", email_normalized="ginag@gmail.com")

        assert self._bound(recruitedBy="gina", email="GinaG+friends@googlemail.com") is None

    def test_is_dropped_while_recruiting_is_off(self):
        self.brand.program(sub_affiliate_enabled=False)
        self.brand.affiliate("ben")

        assert self._bound(recruitedBy="ben") is None

    @pytest.mark.parametrize("malformed", [5, True, ["rita"], {"slug": "rita"}, 10**18, None, 1.5])
    @pytest.mark.parametrize("field", ["recruitedBy", "recruitedByAffiliateId"])
    def test_of_a_wrong_type_is_dropped(self, field, malformed):
        assert self._bound(**{field: malformed}) is None

    def test_new_field_of_a_wrong_type_leaves_the_legacy_one(self):
        assert self._bound(recruitedBy=5, recruitedByAffiliateId=str(self.rita)) == self.rita

    def test_is_named_by_the_slug_of_their_account(self):
        vera, slug = self._account()

        assert self._bound(recruitedBy=slug.upper()) == vera

    def test_account_slug_is_not_to_be_had_by_a_link_of_somebody_else(self):
        vera, slug = self._account()
        self.brand.affiliate(slug)

        assert self._bound(recruitedBy=slug) == vera

    def test_id_is_not_to_be_had_by_a_link_of_somebody_else(self):
        self.brand.affiliate(str(self.rita))

        assert self._bound(recruitedBy=str(self.rita)) == self.rita

    def test_with_the_applicants_account_is_dropped(self):
        self._account(email="vera@example.com", account_email="ada@example.com")

        assert self._bound(recruitedBy="vera") is None

    def test_whose_account_has_the_applicants_email_in_another_campaign_is_dropped(self):
        self._account(email="vera@example.com")
        elsewhere = self.brand.program()
        self.brand.programs.remove(elsewhere)
        self.brand.affiliate("ada", program_id=elsewhere)
        with db.unit_of_work(self.brand.id):
            db.db.stage("update affiliate set account_id = (select account_id from affiliate where email like 'vera%')")

        assert self._bound(recruitedBy="vera") is None

    def test_is_not_advertised(self):
        document = self.brand.get("/api/openapi.json").json
        described = (
            document["paths"]["/api/p/id/{programId}/apply"],
            document["components"]["schemas"]["ApplicationBody"],
        )

        assert "whyInterested" in str(described)
        assert "recruited" not in str(described)

    def _account(self, *, email="vera@example.com", account_email=None):
        """Vera, with an account and its slug."""
        vera, slug = self.brand.affiliate("vera", email=email), f"vera-{uuid4().hex}"
        account_id, at = uuid4(), account_email or f"vera-{uuid4().hex}@example.com"
        with db.any_org_work():
            db.db.stage(
                "insert into affiliate_account (id, subject, email, slug) values (%s, %s, %s, %s)",
                (account_id, uuid4().hex, at, slug),
            )
            db.db.stage("update affiliate set account_id = %s where id = %s", (account_id, vera))
        return vera, slug
