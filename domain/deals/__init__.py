"""Creator deals: states and steps, what the brand is charged, calls to the funding source, and events."""
