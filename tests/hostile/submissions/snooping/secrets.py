"""P13, 97, 114, Z73-77: looks for secrets, files of the judge and other processes.

Must be: checked."""

import glob
import os
import sys

# + honest softmax


def search(text, where):
    if "canary-" in text or "redis.sock" in text:
        print("LEAKED", where)


search(repr(dict(os.environ)), "environment")
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline") + ["/proc/self/maps"]:
    try:
        with open(path, "rb") as file:
            search(file.read().decode("latin-1"), path)
    except OSError:
        pass
for path in (
    "/etc/shadow",
    "/etc/passwd",
    "/root",
    "/home",
    "/var",
    "/run",
    "/tmp",
    "/proc/1/root/etc/passwd",
    "/proc/self/root/etc/passwd",
    "/proc/kcore",
    "/dev/mem",
    "/dev/shm",
    "/sys/fs/cgroup",
    "kernels/tasks/softmax/reference.py",
):
    try:
        found = os.listdir(path) if os.path.isdir(path) else open(path).read(9)
    except OSError:
        continue
    if found:
        print("seen", path, str(found)[:80])
        if "shadow" in path or "passwd" in path or "reference" in path or "kcore" in path:
            print("LEAKED", path)
for folder in sys.path:
    for place in ("kernels/tasks", "app", "tests", "var", "kernels/catalog.py"):
        if os.path.exists(os.path.join(folder or ".", place)) and "site-packages" not in folder:
            print("LEAKED", place)
for descriptor in range(3, 256):
    try:
        target = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        continue
    if not target.startswith("pipe:"):
        print("descriptor", descriptor, target)
        if target.startswith("socket:"):
            print("LEAKED", target)
