"""P1: a plan for another device. Must be: rejected."""

import json

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    document = json.loads(header)
    plan = document["plan"]
    plan["target"]["device"] = "H100"
    return frame.pack(json.dumps(document), blobs)


Bundle.pack = pack
