"""P1: blobs that are not what their names say. Must be: rejected."""

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    return frame.pack(header.decode(), [blob[::-1] for blob in blobs])


Bundle.pack = pack
