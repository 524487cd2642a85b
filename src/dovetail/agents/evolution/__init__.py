"""Evolution of an index policy on replays."""
