"""What the tests of applications share."""


def apply(brand, body=None, *, program_id=None, headers=None, **fields):
    """Apply to the brand's last program, or to another, as anybody."""
    sent = {"email": "ada@example.com"} | fields if body is None else body
    client = brand.app.test_client()
    return client.post(f"/api/p/id/{program_id or brand.programs[-1]}/apply", json=sent, headers=headers)


def applicants(brand, columns):
    """Return who applied."""
    return brand.rows(f"select {columns} from affiliate where source = 'Public' order by created_at")


def happened(brand):
    """Return the brand's events, each with its data."""
    return [
        (type, body["data"])
        for type, body in brand.rows("select type, body::jsonb from event order by created_at, type desc")
    ]
