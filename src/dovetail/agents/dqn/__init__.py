"""Deep Q-learning with masks: networks, replay, learner."""
