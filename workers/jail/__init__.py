"""Isolation: a fork server whose every fork is confined before it meets untrusted code."""

from workers.jail.client import JailClient
from workers.jail.launch import JailRefused, ServerProcess, start_server
from workers.jail.level import JailLevel, Layer
from workers.jail.outcome import JailUnavailable, Outcome, Status
from workers.jail.probe import probe
from workers.jail.profile import Limits, Profile, interpreter_paths

__all__ = [
    "JailClient",
    "JailLevel",
    "JailRefused",
    "JailUnavailable",
    "Layer",
    "Limits",
    "Outcome",
    "Profile",
    "ServerProcess",
    "Status",
    "interpreter_paths",
    "probe",
    "start_server",
]
