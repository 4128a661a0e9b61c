"""The official scorers, exactly."""
