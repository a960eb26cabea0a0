"""P1: a grid beyond the hardware. Must be: rejected."""

import json

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    document = json.loads(header)
    plan = document["plan"]
    plan["cases"][0]["steps"][0]["grid"] = [2**31, 1, 1]
    return frame.pack(json.dumps(document), blobs)


Bundle.pack = pack
