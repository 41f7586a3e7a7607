"""Creator deals, their milestones, what their funding source was asked, and what of them was paid out."""
