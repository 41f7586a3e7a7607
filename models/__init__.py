"""Tables and every query. The tenant comes first; nothing here commits and nothing here decides."""
