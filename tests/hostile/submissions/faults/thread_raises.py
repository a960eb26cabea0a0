"""Z52: another thread throws exceptions into the judge's. Must be: build_error."""

import ctypes
import threading
import time

# + honest softmax

main = threading.main_thread().ident


def throw():
    for _ in range(3):
        time.sleep(0.1)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main), ctypes.py_object(KeyError))


threading.Thread(target=throw, daemon=True).start()
