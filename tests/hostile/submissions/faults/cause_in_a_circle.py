"""Z125: causes that lead back, and attributes that raise. Must be: build_error."""


class Nasty(Exception):
    @property
    def __cause__(self):
        raise RuntimeError

    @property
    def __traceback__(self):
        raise RuntimeError

    @property
    def __notes__(self):
        raise RuntimeError


error = Nasty()
try:
    raise error from ValueError()
except Nasty:
    raise error from error
