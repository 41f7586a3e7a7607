"""Who is bound as the recruiter of an applicant, through HTTP."""

import pytest


def _apply(brand, body=None, *, program_id=None, **fields):
    sent = {"email": "ada@example.com"} | fields if body is None else body
    client = brand.app.test_client()
    return client.post(f"/api/p/id/{program_id or brand.programs[-1]}/apply", json=sent)


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
        assert _apply(self.brand, **fields).status_code == 200
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
        "reference", ["nobody", "01890000-0000-7000-8000-000000000000", "", "x" * 5000, "'; --", "日本"]
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
