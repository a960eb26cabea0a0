"""P1, P15: a matrix product among the steps. Must be: rejected."""

import json

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    document = json.loads(header)
    plan = document["plan"]
    plan["cases"][0]["steps"].insert(
        0,
        {
            "kind": "op",
            "op": "aten.mm.default",
            "arguments": [],
            "outputs": plan["cases"][0]["outputs"],
        },
    )
    return frame.pack(json.dumps(document), blobs)


Bundle.pack = pack
