"""Arguments of frames by words in context: a small network over the states of an encoder."""
