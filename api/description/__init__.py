"""The interface, described for machines and people from the routes and schemas themselves."""
