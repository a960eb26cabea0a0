"""Contests: who competes, when, on which tasks, and how it ends. See docs/contests.md."""
