"""Learning on sliced GPUs; the only place here with torch."""
