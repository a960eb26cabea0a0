"""The vocabulary of the judge and the catalogue of tasks."""
