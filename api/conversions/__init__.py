"""Sales and what became of them: signed or entered by hand, listed, exported, decided about, explained."""
