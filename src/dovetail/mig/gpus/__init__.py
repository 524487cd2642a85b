"""GPU models, the rules for cutting them, and clusters of them."""
