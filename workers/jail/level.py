"""Which layers of the jail this machine offers, and what a missing one means."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self


class Layer(StrEnum):
    """One mechanism; each stops something that the others do not."""

    UID = "uid"
    """A user of its own, or in a user namespace a user without any right."""
    NO_NEW_PRIVS = "no_new_privs"
    """Set-uid programs give nothing."""
    SECCOMP = "seccomp"
    """A filter on system calls: no sockets, tracing, mounts or namespaces."""
    LANDLOCK = "landlock"
    """File rights by path: reading, writing, and which programs may run."""
    PIDNS = "pidns"
    """No other process exists, and all end together."""
    NETNS = "netns"
    """No network device, not even loopback."""
    IPCNS = "ipcns"
    """No shared System V objects."""
    MOUNTNS = "mountns"
    """A private root and a scratch folder of bounded size."""
    UTSNS = "utsns"
    """The host name is hidden."""
    CGROUPNS = "cgroupns"
    """The place in the host's control groups is hidden."""
    PROC = "proc"
    """A /proc that shows the jail's own processes."""
    CGROUP = "cgroup"
    """A control group with limits for the whole tree."""


REQUIRED = frozenset(Layer) - {Layer.UTSNS, Layer.CGROUPNS, Layer.PROC, Layer.CGROUP}

_NAMESPACES = (
    "as root, grant CAP_SYS_ADMIN (in a container: --cap-add SYS_ADMIN and a seccomp profile "
    "that allows unshare and mount); as an ordinary user, allow user namespaces "
    "(sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0)"
)
_REMEDIES = {
    Layer.UID: "as root, grant CAP_SETUID and CAP_SETGID and map the uids from 60100 to 60199; "
    "as an ordinary user, allow user namespaces",
    Layer.NO_NEW_PRIVS: "use Linux 3.5 or newer",
    Layer.SECCOMP: "use a kernel with CONFIG_SECCOMP_FILTER on x86-64 or aarch64",
    Layer.LANDLOCK: "use Linux 5.13 or newer with landlock in its list of security modules "
    "(kernel parameter lsm=landlock,...); gVisor has none",
}


@dataclass(frozen=True)
class JailLevel:
    """What `probe` found; the same facts go into health pages and reports."""

    layers: frozenset[Layer]
    """Layers that work here."""
    failures: Mapping[Layer, str] = field(default_factory=dict)
    """Why each of the others does not."""
    landlock_abi: int = 0
    """0 where the kernel has no Landlock."""
    shared_uid: bool = False
    """Jails run with the judge's own uid, behind a user namespace."""
    unsafe: bool = False
    """The operator accepted missing layers."""

    @property
    def missing(self) -> frozenset[Layer]:
        """Required layers that do not work here."""
        return REQUIRED - self.layers

    def describe(self) -> str:
        """The level in plain lines: what works, what is missing and what to do about it."""
        names = [
            f"{layer} {self.landlock_abi}" if layer is Layer.LANDLOCK else str(layer)
            for layer in Layer
            if layer in self.layers
        ]
        lines = ["jail layers: " + (", ".join(names) or "none")]
        if self.shared_uid:
            lines.append("uid shared with the judge: run it as root for a uid of its own per jail")
        for layer in Layer:
            if layer not in self.layers:
                need = "required" if layer in REQUIRED else "optional"
                lines.append(f"missing {layer} ({need}): {self.failures.get(layer, 'not probed')}")
            if layer in self.missing:
                lines.append(f"  remedy: {_REMEDIES.get(layer, _NAMESPACES)}")
        if self.unsafe:
            lines.append("UNSAFE: untrusted code runs without the missing layers")
        return "\n".join(lines)

    def to_json(self) -> str:
        """The level as a JSON object."""
        return json.dumps(
            {
                "layers": sorted(self.layers),
                "failures": dict(self.failures),
                "landlock_abi": self.landlock_abi,
                "shared_uid": self.shared_uid,
                "unsafe": self.unsafe,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        loaded = json.loads(text)
        loaded["layers"] = frozenset(Layer(name) for name in loaded["layers"])
        loaded["failures"] = {Layer(name): why for name, why in loaded["failures"].items()}
        return cls(**loaded)
