"""Emails: HTML from templates, sending by SMTP, links in emails, and cleaning of HTML that brands wrote."""
