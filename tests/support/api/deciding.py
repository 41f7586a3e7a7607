"""What a brand decides about a conversion."""

ROUTES = {
    "validate": "/api/v1/conversions/{}/validate",
    "invalidate": "/api/v1/conversions/{}/invalidate",
    "approve": "/api/conversions/{}/approve",
    "deny": "/api/conversions/{}/deny",
}


def act(caller, action, conversion_id, body=None, **headers):
    """Take an action on a conversion: validate, invalidate, approve or deny."""
    return caller.post(ROUTES[action].format(conversion_id), body, **headers)
