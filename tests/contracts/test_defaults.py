"""Defaults in the description: only optional fields of requests have one."""


def _collect_schema_names(part, names):
    if isinstance(part, dict):
        if part.get("$ref", "").startswith("#/components/schemas/"):
            names.add(part["$ref"].rpartition("/")[2])
        for value in part.values():
            _collect_schema_names(value, names)
    elif isinstance(part, list):
        for value in part:
            _collect_schema_names(value, names)
    return names


def test_response_fields_have_no_default(app):
    document = app.test_client().get("/api/openapi.json").json
    schemas = document["components"]["schemas"]
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    webhooks = [operation for methods in document.get("webhooks", {}).values() for operation in methods.values()]

    def list_schema_names(parts):
        names, queue = set(), list(_collect_schema_names(parts, set()))
        while queue:
            name = queue.pop()
            if name not in names:
                names.add(name)
                queue += _collect_schema_names(schemas[name], set())
        return names

    of_requests = list_schema_names([operation.get("requestBody", {}) for operation in operations])
    of_responses = list_schema_names([operation["responses"] for operation in operations] + webhooks) - of_requests

    assert {"SaleAnswer", "LeadAnswer", "PayoutPreview"} <= of_responses
    defaults = {
        f"{name}.{field}"
        for name in of_responses
        for field, schema in schemas[name].get("properties", {}).items()
        if "default" in schema
    }
    assert defaults == set()
