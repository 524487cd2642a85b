"""The process around the cycle: loop, signals, switches, status, metrics, systemd."""
