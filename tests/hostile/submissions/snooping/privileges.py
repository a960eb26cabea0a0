"""96, Z88-96: system calls that lead out of a jail. Must be: checked."""

import ctypes
import os

# + honest softmax

libc = ctypes.CDLL(None, use_errno=True)
CALLS = {
    "ptrace": (101, 16, 1, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "unshare": (272, 0x10000000),
    "setns": (308, 0, 0),
    "clone3": (435, 0, 0),
    "mount": (165, b"none", b"/scratch", b"tmpfs", 0, 0),
    "umount": (166, b"/scratch", 2),
    "chroot": (161, b"/scratch"),
    "pivot_root": (155, b"/", b"/"),
    "open_by_handle_at": (304, 0, 0, 0),
    "setuid": (105, 0),
    "setgid": (106, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "keyctl": (250, 0, -3, 1),
    "add_key": (248, b"user", b"k", b"v", 1, -3),
    "userfaultfd": (323, 0),
    "io_uring_setup": (425, 1, 0),
    "memfd_secret": (447, 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "init_module": (175, 0, 0, 0),
    "reboot": (169, 0),
    "mknod": (133, b"/scratch/node", 0o20666, 0x103),
    "personality": (135, 0x0040000),
    "iopl": (172, 3),
    "x32 getpid": (0x40000000 | 39,),
    "msgget": (68, 0, 0o1666),
    "shmget": (29, 0, 4096, 0o1666),
    "setpriority of init": (141, 0, 1, -20),
    "prlimit of init": (302, 1, 0, ctypes.byref((ctypes.c_ulong * 2)(0, 0)), 0),
    "sched_setscheduler": (144, 0, 1, ctypes.byref(ctypes.c_int(1))),
}
for name, call in CALLS.items():
    if libc.syscall(*call) != -1:
        print("LEAKED", name)
for program in ("/bin/sh", "/usr/bin/python3", "/usr/bin/ping", "/bin/su"):
    child = os.fork()
    if child == 0:
        try:
            os.execv(program, [program, "-c", "true"])
        except OSError:
            os._exit(77)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 77:
        print("LEAKED", program)
