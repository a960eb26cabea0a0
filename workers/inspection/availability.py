"""Whether a host looks at plans with tools, which its operator must want."""

from kernels.contract.rerun import RerunKind
from workers.inspection import tools
from workers.settings import Settings

OFF = (
    "looking at plans with tools is switched off, since no jail holds the tools: if that is "
    "acceptable on the measuring host, set KERNELJUDGE_INSPECT=on there"
)


def unavailable(settings: Settings, kind: RerunKind) -> str:
    """Why plans cannot be looked at on this host, and what to do; empty if they can."""
    return tools.missing(kind) if settings.inspect else OFF
