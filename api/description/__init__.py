"""The description of the interface for machines and people, built from the routes and schemas themselves."""
