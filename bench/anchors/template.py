"""The bare page: what Flask, gunicorn and Jinja take to fill the template of landing pages with constants.

In: the product's own template, filled anew for each request. Out: rate limit, look-up, terms, metrics, log line.
"""

from flask import Flask, Response

from api.storefront import landing_page
from pages import documents, forms, statics

_SAID = {
    "headline": "Recommend it",
    "intro": "Earn with it.",
    "heroImageId": None,
    "heroImageUrl": None,
    "accentColor": "#b3541e",
    "showTerms": True,
    "sections": [{"title": "Whom we look for", "text": "Words and more. " * 30}],
}
_RECORD = {
    "organizationName": "Brand",
    "organizationDescription": None,
    "name": "Campaign",
    "slug": "campaign",
    "description": "Recommend what you use.",
    "termsUrl": None,
    "customAliasSupported": True,
    "attributionModel": "LastTouch",
    "cookieWindowDays": 30,
    "autoApprove": False,
    "logoUrl": None,
    "applicationForm": None,
    "landingPageConfig": _SAID,
}


def create_app() -> Flask:
    """Build the one-route application."""
    app = Flask("anchor", static_folder=None)
    earns = "20 % of each payment in a customer's first 12 months."
    page = landing_page.of(_RECORD, earns=earns, color=None, handle="brand", verified_domain=None)
    template = documents.TEMPLATES.get_template("hosted/landing/page.html")
    shown = {
        "static": statics.url,
        "new_key": lambda: "constant",
        "here": page.path,
        "form": forms.EMPTY,
        "page": page,
        "record": _RECORD,
        "said": page.said,
        "style": "/style.css",
        "logo": None,
        "icon": None,
        "hero": None,
        "sign_in": "/sign-in",
        "recruiter": "",
        "is_applied": False,
        "is_preview": False,
        "is_found": True,
    }

    @app.get("/healthz")
    def alive() -> str:
        return "ok\n"

    @app.get("/p/<handle>/<campaign>")
    def show_page(handle: str, campaign: str) -> Response:
        return Response(template.render(shown), content_type="text/html; charset=utf-8")

    return app
