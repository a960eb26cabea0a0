"""P1, P4: a result that lies outside its buffer. Must be: rejected."""

import json

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    document = json.loads(header)
    plan = document["plan"]
    plan["cases"][0]["outputs"][0]["offset"] = 1 << 40
    return frame.pack(json.dumps(document), blobs)


Bundle.pack = pack
