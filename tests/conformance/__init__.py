"""Every entry of every registry, tested at once: a new part needs no test of its own to be safe."""
