"""Round trips of imports and of their undo, equal for one row and a thousand: one entry each."""

from uuid import UUID, uuid4

import pytest

from adapters import clock
from pipelines.imports import affiliates, conversions, undo
from schemas.imports.affiliates import AffiliateImport
from schemas.imports.conversions import ConversionImport, ConversionPreview
from tests.budgets.counting import HotPath, in_one_transaction
from tests.support.api.import_requests import build_past_sale


def _import_affiliates(brand, rows):
    body = AffiliateImport().load({"programId": str(brand.programs[-1]), "affiliates": rows})
    importer = affiliates.AffiliateImporter(
        organization_id=brand.id, member_id=uuid4(), is_test=False, may_notify=False
    )
    return in_one_transaction(brand, lambda: affiliates.run(importer, body, now=clock.now()))


def _people(brand, *, slug=None):
    brand.program()
    many_rows = [{"email": f"number-{number}@example.com"} for number in range(1000)]
    if slug is not None:
        many_rows = [row | {"slug": f"slug{slug}{number}"} for number, row in enumerate(many_rows)]
    one_row = [{"email": "one@example.com"} | ({} if slug is None else {"slug": f"one{slug}"})]
    return [_import_affiliates(brand, many_rows), _import_affiliates(brand, one_row)]


def _people_with_and_without_slugs(brand):
    brand.program()
    rows = [{"email": f"number-{number}@example.com", "slug": f"slug_{number}"} for number in range(500)]
    return [_import_affiliates(brand, rows + [{"email": f"other-{number}@example.com"} for number in range(500)])]


def _sales_program(brand):
    brand.program()
    brand.affiliate("ben")


def _rows(number):
    return [build_past_sale(externalId=f"order-{number}-{at}", processorCustomerId=f"cus-{at}") for at in range(number)]


def _importer(brand):
    return conversions.ConversionImporter(organization_id=brand.id, member_id=uuid4(), is_test=False)


def _import_conversions(brand, number):
    fields = {"programId": str(brand.programs[-1]), "conversions": _rows(number), "confirmUnpaidPayout": True}
    return in_one_transaction(
        brand, lambda: conversions.run(_importer(brand), ConversionImport().load(fields), now=clock.now())
    )


def _past_sales(brand):
    _sales_program(brand)
    return [_import_conversions(brand, number) for number in (1000, 1)]


def _preview_past_sales(brand):
    _sales_program(brand)

    def preview(number):
        body = ConversionPreview().load({"programId": str(brand.programs[-1]), "conversions": _rows(number)})
        return in_one_transaction(brand, lambda: conversions.preview(_importer(brand), body, now=clock.now()))

    return [preview(number) for number in (1000, 1)]


def _import_ids(brand):
    _sales_program(brand)
    for number in (999, 1):
        _import_conversions(brand, number)()
    return [import_id for (import_id,) in brand.rows("select id from import_job order by created_at")]


def _preview_undo(brand):
    return [
        in_one_transaction(
            brand, lambda import_id=import_id: undo.preview(organization_id=brand.id, import_id=import_id)
        )
        for import_id in _import_ids(brand)
    ]


def _undo(brand, import_id):
    return in_one_transaction(brand, lambda: undo.run(organization_id=brand.id, import_id=import_id, now=clock.now()))


def _undo_sales(brand):
    return [_undo(brand, import_id) for import_id in _import_ids(brand)]


def _undo_affiliates(brand):
    brand.program()
    people = [{"email": f"number-{number}@example.com"} for number in range(100)]
    body = {"programId": str(brand.programs[-1]), "affiliates": people}
    return [_undo(brand, UUID(brand.post("/api/v1/affiliates/import", body).json["jobId"]))]


_SLUG_BUDGET = "one more where rows bring no slug, and one where a slug cannot be had"
_COMMIT = 1  # of a transaction with several statements
PATHS = {
    "import-affiliates": HotPath(
        lambda brand: _people(brand, slug="-"),
        7,
        stated={affiliates.run: "Budget: 7 round trips"},
        rows=("select count(*) from affiliate", 1001),
    ),
    "import-affiliates-without-slugs": HotPath(_people, 7 + 1, stated={affiliates.run: _SLUG_BUDGET}),
    "import-affiliates-with-invalid-slugs": HotPath(lambda brand: _people(brand, slug="_"), 7 + 1),
    "import-affiliates-of-both-kinds": HotPath(_people_with_and_without_slugs, 7 + 2),
    "import-sales": HotPath(
        _past_sales,
        6,
        stated={conversions.run: "Budget: 6 round trips"},
        rows=("select count(*) from conversion", 1001),
    ),
    "preview-import": HotPath(_preview_past_sales, 3 + _COMMIT, stated={conversions.preview: "Budget: 3 round trips"}),
    "preview-undo": HotPath(_preview_undo, 3 + _COMMIT, stated={undo.preview: "Budget: 3 round trips"}),
    "undo-sales": HotPath(
        _undo_sales, 6, stated={undo.run: "Budget: 6 round trips"}, rows=("select count(*) from conversion", 0)
    ),
    "undo-affiliates": HotPath(_undo_affiliates, 8, stated={undo.run: "8 for affiliates"}),
}


@pytest.mark.parametrize("name", PATHS)
def test_import_path_keeps_its_budget(request, brand, name):
    PATHS[name].assert_budget(brand, request)
