"""How host code is told that it asked for something a launch plan cannot hold."""


class Refusal(RuntimeError):
    """Host code broke a rule; one sentence on what it did, one on what to write instead."""

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
        type(self).heard(self)

    @staticmethod
    def heard(refusal: "Refusal") -> None:
        """Told of every refusal; replaced by who must know of those that host code swallows."""
