"""58, Z97: leaves with success before anything was done. Must be: build_error."""

import os

os._exit(0)
