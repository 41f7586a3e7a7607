import io, json
def test_x(brand):
    raw = json.dumps({"externalEventId": "order-a"}).encode().ljust(100_000)
    headers = {"Authorization": f"Bearer {brand.api_key}", "X-Service-Signature": brand.signature(raw)}
    for ov in ({"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}, {"HTTP_TRANSFER_ENCODING": "chunked"},{"wsgi.input_terminated": True}):
        a = brand.app.test_client().post("/api/tracking/refund", headers=headers, input_stream=io.BytesIO(raw), environ_overrides=ov)
        print(a.status_code, a.data[:200], a.headers)
