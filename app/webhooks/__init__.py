"""Telling other programs what happened: signed, repeated, and never to where they should not."""
