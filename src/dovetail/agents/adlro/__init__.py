"""ADLRO: assigns jobs to GPUs of different types, learned by deep Q-learning."""
