"""What others' clients say of POST /mcp: the official one for Python, the inspector, the official conformance suite."""
