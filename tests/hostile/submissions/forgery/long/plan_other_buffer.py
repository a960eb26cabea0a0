"""P1: a pointer into a buffer that is not there. Must be: rejected."""

import json

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    document = json.loads(header)
    plan = document["plan"]
    plan["cases"][0]["steps"][0]["arguments"][0]["buffer"] = 4000
    return frame.pack(json.dumps(document), blobs)


Bundle.pack = pack
