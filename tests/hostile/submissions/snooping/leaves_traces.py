"""36, 106, 107, 110, Z78-80, Z126-129: writes wherever a later run might look; sent twice.

Must be: checked."""

import os
import sys
import sysconfig

# + honest softmax

import torch
import triton

folders = {
    os.environ.get("HOME", "/"),
    os.environ.get("TRITON_CACHE_DIR", "/"),
    os.environ.get("TMPDIR", "/tmp"),
    "/dev/shm",
    "/run/kerneljudge-jail-slots",
    "/var/tmp",
    sysconfig.get_path("purelib"),
    os.path.dirname(triton.__file__),
    os.path.dirname(torch.__file__),
    *sys.path,
}
for folder in folders:
    if "submission-trace" in (os.listdir(folder) if os.path.isdir(folder) else ()):
        print("LEAKED a trace in", folder)
    for name in ("submission-trace", "sitecustomize.py", "json.py"):
        try:
            with open(os.path.join(folder, name), "x") as file:
                file.write("raise SystemExit")
            print("written", folder)
        except OSError:
            pass
        if not folder.startswith("/scratch") and os.path.exists(os.path.join(folder, name)):
            if name != "json.py" and name != "sitecustomize.py":
                print("LEAKED", folder)
for action in (
    lambda: os.chmod(triton.__file__, 0o777),
    lambda: os.chown(triton.__file__, os.getuid(), os.getgid()),
    lambda: os.utime(triton.__file__, (0, 0)),
    lambda: os.link("/etc/ld.so.cache", "/scratch/hard"),
    lambda: os.setxattr(triton.__file__, "user.trace", b"x"),
    lambda: os.rename(triton.__file__, triton.__file__ + ".old"),
    lambda: os.unlink(torch.__file__),
):
    try:
        action()
        print("LEAKED a change of installed files")
    except OSError:
        pass
