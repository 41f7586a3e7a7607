"""What the processes need, and what slow clients cost."""
