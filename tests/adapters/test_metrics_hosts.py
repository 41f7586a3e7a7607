"""The metrics server at METRICS_PORT accepts the same hosts as `/metrics` of a web process."""

import http.client
import socket

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.settings_overrides import override_settings
from workers import metrics


@pytest.fixture
def port(monkeypatch):
    override_settings(
        monkeypatch,
        web={"public_base_url": "https://affiliates.service.example"},
        monitoring={"metrics_hosts": ("metrics.internal.example", "web", "10.1.0.0/16")},
    )
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = metrics.serve(port)
    yield port
    server.shutdown()
    server.server_close()


def _get(port, headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest("GET", "/metrics", skip_host=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:9100", 200),
        ("127.0.0.1:9100", 200),
        ("AFFILIATES.service.example", 200),
        ("metrics.internal.example", 200),
        ("web:9100", 200),
        ("10.1.2.3:9100", 200),
        ("partners.acme.example", 404),
        ("10.2.0.1:9100", 404),
        ("localhost.acme.example", 404),
        ("[", 404),
        ("", 404),
    ],
)
def test_unknown_host_gets_404_and_own_host_gets_metrics(port, host, status):
    response = _get(port, [("Host", host)])

    assert response[0] == status
    assert any(text_string_to_metric_families(response[1])) is (status == 200)


@pytest.mark.parametrize("headers", [[], [("Host", "localhost"), ("Host", "partners.acme.example")]])
def test_request_without_exactly_one_host_header_gets_404(port, headers):
    assert _get(port, headers)[0] == 404


def test_metrics_server_does_not_start_on_a_port_in_use(port):
    assert metrics.serve(port) is None
    assert _get(port, [("Host", "localhost")])[0] == 200
