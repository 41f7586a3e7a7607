"""Requests and responses of operators, about the installation and of every organization."""
