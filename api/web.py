"""Set-up of the Flask application: all routes, the error handlers and the two hooks around a request."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, g, request
from flask.json.provider import DefaultJSONProvider
from werkzeug.middleware.proxy_fix import ProxyFix

import settings
from adapters import servers
from adapters.clicks import countries, networks, stream
from api import (
    affiliates,
    automation,
    clicks,
    conversions,
    copilot,
    coupons,
    deals,
    embed,
    fraud,
    gateways,
    imports,
    invites,
    leads,
    mcp,
    me,
    notifications,
    operator,
    organization,
    payouts,
    platforms,
    programs,
    search,
    service,
    storefront,
    switches,
    webhooks,
)
from api.access import challenges, limits
from api.access.client_address import ClientAddress
from api.clicks import fast_path, visits
from api.edge import compression, cors, errors, internal_requests, relay_waker, trace
from api.edge.replica import routing
from api.server.fast_path import FastPathEndpoint

_BLUEPRINTS = (
    *conversions.BLUEPRINTS,
    *leads.BLUEPRINTS,
    *clicks.BLUEPRINTS,
    *programs.BLUEPRINTS,
    *affiliates.BLUEPRINTS,
    *invites.BLUEPRINTS,
    *imports.BLUEPRINTS,
    *switches.BLUEPRINTS,
    *storefront.BLUEPRINTS,
    *payouts.BLUEPRINTS,
    *deals.BLUEPRINTS,
    *gateways.BLUEPRINTS,
    platforms.blueprint,
    *coupons.BLUEPRINTS,
    *me.BLUEPRINTS,
    *embed.BLUEPRINTS,
    fraud.blueprint,
    search.blueprint,
    *webhooks.BLUEPRINTS,
    *automation.BLUEPRINTS,
    *organization.BLUEPRINTS,
    *notifications.BLUEPRINTS,
    *mcp.BLUEPRINTS,
    *copilot.BLUEPRINTS,
    *operator.BLUEPRINTS,
    *service.BLUEPRINTS,
)

# Answers are not cached unless the route allows it: a cache in front could otherwise store a refusal or a secret.
# Not by werkzeug's setdefault, which raises and catches an error for each missing header.
_DEFAULT_HEADERS = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))


class _Json(DefaultJSONProvider):
    """JSON of Flask's responses by orjson."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        return Response(orjson.dumps(self._prepare_response_obj(args, kwargs)), content_type="application/json")


def mount(app: Flask, *, extra_blueprints: Iterable[Blueprint] = ()) -> None:
    """Set up an application for requests, with this process's settings; again does nothing. Opens no connection yet.

    `extra_blueprints` are the routes of the layers above the API.

    Raises settings.BadSetting.
    """
    if "limiter" in app.extensions:
        return
    config, urls = settings.current(), servers.urls()
    networks.load_networks()  # an unusable file is reported now, not at the first click
    countries.load_map()
    app.json = _Json(app)
    # A doubled slash would be answered with a redirect to any host in the request.
    app.url_map.merge_slashes = False
    app.extensions["limiter"] = limits.Limiter(
        urls.redis_url, config.web.limits_per_min, slot_keys={visits.BUCKET: stream.KEY}
    )
    app.extensions["waker"] = relay_waker.Waker(urls.redis_url)
    app.extensions["click_stream"] = stream.ClickStream(urls.redis_url)
    if config.servers.database_read_url:
        app.extensions["reads"] = routing.ReadRouter(urls.redis_url, max_lag_s=config.servers.database_read_lag_s)
    parse: Any = partial(fast_path.parse, app)
    if config.web.trusted_proxies:
        hops = config.web.trusted_proxies
        app.wsgi_app = behind_proxies(app.wsgi_app, hops)  # type: ignore[method-assign]  # Flask's documented way
        parse = behind_proxies(parse, hops)
    app.extensions["fast_path"] = FastPathEndpoint(
        urls.redis_url, fast_path.REQUEST_PREFIX, fast_path.MAX_REQUEST_BYTES, parse
    )
    errors.register(app)
    app.before_request(_begin)
    app.after_request(_end)
    for blueprint in (*_BLUEPRINTS, *extra_blueprints):
        app.register_blueprint(blueprint)


def behind_proxies(app: Any, hops: int) -> ProxyFix:
    """Return a WSGI application that trusts `hops` proxies for the client's address, the scheme and the host."""
    return ProxyFix(ClientAddress(app, hops=hops), x_for=hops, x_proto=hops, x_host=hops)


def _begin() -> Response | None:
    g.trace = trace.begin(request.environ)
    g.request_id = g.trace.request_id
    internal_requests.start_deadline()
    return cors.answer_preflight()


def _end(response: Response) -> Response:
    rule = request.url_rule
    trace.end(g.trace, rule.rule if rule else "(none)", response.status_code, request.environ)
    response.headers.add("X-Request-Id", g.request_id)
    # The answer of an internal request does not go to the network; the outer answer gets the headers.
    return response if internal_requests.is_internal() else _add_default_headers(response)


def _add_default_headers(response: Response) -> Response:
    if response.status_code == 401:
        challenges.add_challenge(response)
    headers = response.headers
    present = {name.lower() for name, _ in headers}
    for name, value in _DEFAULT_HEADERS:
        if name.lower() not in present:
            headers.add(name, value)
    return cors.add_headers(compression.compress(response))
