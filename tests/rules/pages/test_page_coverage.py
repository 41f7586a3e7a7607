"""Every operation that changes something for people is used by a page."""

# Operations that no page uses, and why.
_WITHOUT_A_PAGE = {
    "create_automation_hook": "a platform subscribes itself when a user switches a workflow on there",
    "delete_automation_hook": "a platform unsubscribes itself; people delete the hook among their webhooks",
    "create_affiliate": "on pages affiliates are invited, so that they consent; systems add known affiliates",
    "create_embedded_link": "the embedded page creates it by its own script and token",
    "run_bulk_action": "the pages approve several affiliates by the dashboard's own operation",
    "pause_affiliates": "an affiliate is paused on their own page; pausing many from a list would invite mistakes",
}


def test_every_writing_operation_has_a_page_or_a_reason(app):
    views = list(app.view_functions.values())
    used = {operation for view in views for operation in getattr(view, "uses", ())}
    changing = {
        app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if rule.methods & {"POST", "PUT", "PATCH", "DELETE"}
    }
    for_people = [
        view
        for view in changing
        if view.operation.is_described and view.operation.guard.audience not in ("public", "signed", "integration")
    ]

    assert len(for_people) > 80
    assert {view.__name__ for view in for_people if view not in used} == set(_WITHOUT_A_PAGE)
