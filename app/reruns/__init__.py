"""Stored plans measured again, or looked at with tools."""

from app.reruns.dispatcher import Dispatcher
from app.reruns.results import Results

__all__ = ["Dispatcher", "Results"]
