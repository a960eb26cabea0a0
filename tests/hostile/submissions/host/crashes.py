"""Z123: reads address zero. Must be: build_error."""

import ctypes

ctypes.string_at(0)
