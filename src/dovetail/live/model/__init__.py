"""What a live cluster says of itself, what is decided about it, and the daemon's modes."""
