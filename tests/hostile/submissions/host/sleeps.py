"""P12, Z43: sleeps for ever. Must be: timeout."""

import time

time.sleep(1e9)
