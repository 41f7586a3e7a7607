"""What a click is and when it earns; attribution parameters, tags, the script's tag."""
