"""P1: NaN where a number belongs. Must be: rejected."""

import json

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    document = json.loads(header)
    plan = document["plan"]
    plan["cases"][0]["buffers"][0]["nbytes"] = float("nan")
    return frame.pack(json.dumps(document), blobs)


Bundle.pack = pack
