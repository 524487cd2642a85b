"""RLTune: priorities learned by PPO against a base policy."""
