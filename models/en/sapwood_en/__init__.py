"""English models for Sapwood; see ``models.json``. ``sapwood.load("en/roles")`` finds them by their names."""
