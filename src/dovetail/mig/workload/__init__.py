"""Jobs for sliced GPUs: drawn, saved, or recorded."""
