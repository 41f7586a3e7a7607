"""The service as it answers requests: every route, its error handlers and the two hooks around a request."""

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
    operator,
    organization,
    payouts,
    platforms,
    programs,
    service,
    storefront,
    webhooks,
)
from api.access import limits
from api.access.client_address import ClientAddress
from api.clicks import fast_path, visits
from api.edge import compression, cors, errors, nested, trace, wake
from api.edge.reading import places
from api.server.fast_path import FastPathEndpoint

_BLUEPRINTS = (
    *conversions.BLUEPRINTS,
    *leads.BLUEPRINTS,
    *clicks.BLUEPRINTS,
    *programs.BLUEPRINTS,
    *affiliates.BLUEPRINTS,
    *invites.BLUEPRINTS,
    *imports.BLUEPRINTS,
    *storefront.BLUEPRINTS,
    *payouts.BLUEPRINTS,
    *deals.BLUEPRINTS,
    *gateways.BLUEPRINTS,
    platforms.blueprint,
    *coupons.BLUEPRINTS,
    *me.BLUEPRINTS,
    *embed.BLUEPRINTS,
    fraud.blueprint,
    *webhooks.BLUEPRINTS,
    *automation.BLUEPRINTS,
    *organization.BLUEPRINTS,
    *mcp.BLUEPRINTS,
    *copilot.BLUEPRINTS,
    *operator.BLUEPRINTS,
    *service.BLUEPRINTS,
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


def mount(app: Flask, *, beside: Iterable[Blueprint] = ()) -> None:
    """Let an application answer requests, by this process's settings. Once for each; opens no connection yet.

    `beside` are the routes that lie above the api.

    Raises settings.BadSetting.
    """
    if "limiter" in app.extensions:
        return
    chosen, urls = settings.current(), servers.urls()
    networks.load_networks()  # a file that cannot be used is found now, not by the first click
    countries.load_map()
    app.json = _Json(app)
    # A doubled slash would be answered with a redirect to any host that the request names.
    app.url_map.merge_slashes = False
    app.extensions["limiter"] = limits.Limiter(
        urls.redis_url, chosen.web.limits_per_min, beside={visits.BUCKET: stream.KEY}
    )
    app.extensions["waker"] = wake.Waker(urls.redis_url)
    app.extensions["click_stream"] = stream.ClickStream(urls.redis_url)
    if chosen.servers.database_read_url:
        app.extensions["reads"] = places.Reads(urls.redis_url, most_lag_s=chosen.servers.database_read_lag_s)
    parse: Any = partial(fast_path.parse, app)
    if chosen.web.trusted_proxies:
        hops = chosen.web.trusted_proxies
        app.wsgi_app = behind_proxies(app.wsgi_app, hops)  # type: ignore[method-assign]  # Flask's documented way
        parse = behind_proxies(parse, hops)
    app.extensions["fast_path"] = FastPathEndpoint(
        urls.redis_url, fast_path.REQUEST_PREFIX, fast_path.MAX_REQUEST_BYTES, parse
    )
    errors.register(app)
    app.before_request(_begin)
    app.after_request(_end)
    for blueprint in (*_BLUEPRINTS, *beside):
        app.register_blueprint(blueprint)


def behind_proxies(app: Any, hops: int) -> ProxyFix:
    """Return a WSGI application that believes so many proxies about the client's address, the scheme and the host."""
    return ProxyFix(ClientAddress(app, hops=hops), x_for=hops, x_proto=hops, x_host=hops)


def _begin() -> Response | None:
    g.trace = trace.begin(request.environ)
    g.request_id = g.trace.request_id
    nested.start_deadline()
    return cors.answer_preflight()


def _end(response: Response) -> Response:
    rule = request.url_rule
    trace.end(g.trace, request.method, rule.rule if rule else "(none)", response.status_code)
    response.headers.add("X-Request-Id", g.request_id)
    # What is answered within a request goes to nobody on the network: the outer answer is dressed for the way.
    return response if nested.is_within() else _dressed(response)


def _dressed(response: Response) -> Response:
    headers = response.headers
    chosen = {name.lower() for name, _ in headers}
    for name, value in _UNLESS_CHOSEN:
        if name.lower() not in chosen:
            headers.add(name, value)
    return cors.mark(compression.compress(response))
