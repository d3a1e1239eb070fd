"""How a message may not be sent."""


class Refused(Exception):
    """The message will never be taken; the text says why, and quotes nothing of the payer's."""


class NotTaken(Exception):
    """The message was not taken this time; `is_of_message`: others may be, so the server is asked for them.

    `is_final`: it will never be, unless nobody's is: a server that refuses everybody refuses us.
    """

    def __init__(self, why: str, is_of_message: bool = False, is_final: bool = False) -> None:
        super().__init__(why)
        self.is_of_message, self.is_final = is_of_message, is_final
