"""Letters out of templates, messages to a mail server, and what may stay of the HTML that somebody else wrote."""
