"""Tests of review by group."""
