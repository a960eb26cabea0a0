"""Z125: the same from the function. Must be: build_error."""


class Nasty(BaseException):
    def __str__(self):
        raise Nasty

    __repr__ = __str__


def solve(x):
    raise Nasty
