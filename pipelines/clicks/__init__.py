"""What happens to clicks: written, paid by the hour, scored; where public links lead."""
