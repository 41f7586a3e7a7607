"""External checks of leads and clicks: human verification, mail domains, the operator's scorer."""
