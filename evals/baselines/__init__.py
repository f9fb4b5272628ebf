"""Segmenters to compare SEOS with, behind one contract."""
