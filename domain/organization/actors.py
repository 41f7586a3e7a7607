"""Who made a change, as other callers see it."""


def label_for_keys(actor_type: str | None, label: str | None) -> str | None:
    """Return the label of an actor for an API key, which sees no person: the label of a member is their email.

    Labels of keys and commands name no person.
    """
    return label if actor_type == "api_key" or "@" not in (label or "@") else None
