"""The span parser: labeled spans, word features, network, chart and training."""
