"""103: raises the judge's own refusal with no words. Must be: rejected or build_error."""

from workers.facade import Refusal


class Silent(Refusal):
    def __init__(self):
        pass

    reason = remedy = property(lambda self: None)


raise Silent
