"""Leads: signed, from a visitor's page, from the hosted form."""
