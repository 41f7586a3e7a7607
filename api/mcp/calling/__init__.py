"""tools/call: a tool is called, by way of a confirmation where it is dangerous."""
