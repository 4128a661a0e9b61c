"""Where data comes from: one reader per format, and the built-in nursery."""
