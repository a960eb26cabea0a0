"""P1: a kernel that is no cubin, under the right name. Must be: rejected."""

import hashlib

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    text = header.decode()
    forged = [
        b"\x7fELF\2\1" + b"\0" * 500 + bytes([i]) if b[:4] == b"\x7fELF" else b
        for i, b in enumerate(blobs)
    ]
    for old, new in zip(blobs, forged, strict=True):
        text = text.replace(hashlib.sha256(old).hexdigest(), hashlib.sha256(new).hexdigest())
    return frame.pack(text, forged)


Bundle.pack = pack
