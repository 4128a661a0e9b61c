"""Sapwood learns from parse trees."""
