"""The compiled simulator: one file for each concern of an event, a pass, a placement."""
