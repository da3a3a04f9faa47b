"""Tests of groups of look-alikes."""
