"""The service as it answers requests: every resource, its error handlers and the two hooks around a request."""

from typing import Any

import orjson
from flask import Flask, Response, g, request
from flask.json.provider import DefaultJSONProvider
from werkzeug.middleware.proxy_fix import ProxyFix

import settings
from adapters import click_stream, networks, servers
from api import (
    affiliate_actions,
    affiliate_import,
    affiliate_links,
    affiliates,
    attribution_params,
    audit_log,
    billing,
    brand_files,
    clicks,
    conversion_actions,
    conversion_attribution,
    conversion_export,
    conversion_import,
    conversions,
    description,
    express,
    fraud_events,
    front_page,
    health,
    home_currency,
    imports,
    install_snippet,
    invite_page,
    invite_tokens,
    invites,
    keys,
    lead_form,
    leads,
    loader,
    manual_conversions,
    organization,
    paid_lead,
    partner_groups,
    payout_account,
    payout_csv,
    payout_decisions,
    payout_drafts,
    payout_runs,
    payouts,
    performance_tiers,
    program_numbers,
    programs,
    rail_events,
    short_links,
    storefront,
    storefront_lookup,
    sub_affiliate_config,
    sub_affiliates,
    tax_forms,
    tracking,
    uncredited,
    webhooks,
)
from api.edge import compression, cors, errors, limits, trace, wake

_RESOURCES = (
    tracking,
    leads,
    paid_lead,
    lead_form,
    clicks,
    short_links,
    loader,
    install_snippet,
    programs,
    program_numbers,
    partner_groups,
    performance_tiers,
    sub_affiliate_config,
    affiliates,
    affiliate_actions,
    affiliate_links,
    affiliate_import,
    imports,
    tax_forms,
    storefront,
    storefront_lookup,
    sub_affiliates,
    payout_account,
    invites,
    invite_tokens,
    invite_page,
    conversions,
    conversion_actions,
    conversion_attribution,
    conversion_export,
    manual_conversions,
    uncredited,
    conversion_import,
    payouts,
    payout_runs,
    payout_decisions,
    payout_drafts,
    rail_events,
    payout_csv,
    fraud_events,
    webhooks,
    attribution_params,
    home_currency,
    organization,
    billing,
    audit_log,
    keys,
    brand_files,
    front_page,
    health,
    description,
)

# Only what a route lets be kept is kept: a cache in front may otherwise hold on to a refusal or to a secret.
# They are added one by one: werkzeug's setdefault raises and catches an error for each header that is not there.
_UNLESS_CHOSEN = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))


class _Json(DefaultJSONProvider):
    """orjson for what Flask renders."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        return Response(orjson.dumps(self._prepare_response_obj(args, kwargs)), content_type="application/json")


def mount(app: Flask) -> None:
    """Let an application answer requests, by this process's settings. Once for each; opens no connection yet.

    Raises settings.BadSetting.
    """
    if "limiter" in app.extensions:
        return
    chosen, urls = settings.current(), servers.urls()
    networks.known()  # a file that cannot be used is found now, not by the first click
    app.json = _Json(app)
    # A doubled slash would be answered with a redirect to whatever host the request names.
    app.url_map.merge_slashes = False
    app.extensions["limiter"] = limits.Limiter(urls.redis_url, chosen)
    app.extensions["waker"] = wake.Waker(urls.redis_url)
    app.extensions["click_stream"] = click_stream.ClickStream(urls.redis_url)
    app.wsgi_app = express.Express(app)  # type: ignore[method-assign]  # Flask's documented way
    if chosen.trusted_proxies:
        hops = chosen.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]  # Flask's documented way
    errors.register(app)
    app.before_request(_begin)
    app.after_request(_end)
    for resource in _RESOURCES:
        app.register_blueprint(resource.blueprint)


def _begin() -> Response | None:
    g.trace = trace.begin(request.environ)
    g.request_id = g.trace.request_id
    return cors.answer_preflight()


def _end(response: Response) -> Response:
    headers = response.headers
    chosen = {name.lower() for name, _ in headers}
    headers.add("X-Request-Id", g.request_id)
    for name, value in _UNLESS_CHOSEN:
        if name.lower() not in chosen:
            headers.add(name, value)
    rule = request.url_rule
    trace.end(g.trace, request.method, rule.rule if rule else "(none)", response.status_code)
    return cors.mark(compression.compress(response))
