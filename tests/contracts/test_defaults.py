"""Defaults in the description: only what a request may leave out has one."""


def _names(described, found):
    if isinstance(described, dict):
        if described.get("$ref", "").startswith("#/components/schemas/"):
            found.add(described["$ref"].rpartition("/")[2])
        for value in described.values():
            _names(value, found)
    elif isinstance(described, list):
        for value in described:
            _names(value, found)
    return found


def test_fields_of_answers_have_no_default(app):
    document = app.test_client().get("/api/openapi.json").json
    schemas = document["components"]["schemas"]
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    webhooks = [operation for methods in document.get("webhooks", {}).values() for operation in methods.values()]

    def reached(parts):
        found, todo = set(), list(_names(parts, set()))
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += _names(schemas[name], set())
        return found

    sent = reached([operation.get("requestBody", {}) for operation in operations])
    answered = reached([operation["responses"] for operation in operations] + webhooks) - sent

    assert {"SaleAnswer", "LeadAnswer", "PayoutPreview"} <= answered
    defaults = {
        f"{name}.{field}"
        for name in answered
        for field, described in schemas[name].get("properties", {}).items()
        if "default" in described
    }
    assert defaults == set()
