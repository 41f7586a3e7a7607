"""Foreign clients of POST /mcp: the official Python client, the inspector, and the official conformance suite."""
