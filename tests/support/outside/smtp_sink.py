"""A mail server: real SMTP on this machine, with scripted replies, that records every message it accepts.

A script maps a command to its reply instead of the usual one; `MESSAGE` is the end of the message itself, and HANG_UP
closes the connection without a reply. One script per connection, the last one repeats.
"""

import email
import email.policy
import socketserver
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import cast

HANG_UP = ""
_DEFAULT_REPLIES = {
    "MAIL": "250 ok",
    "RCPT": "250 ok",
    "DATA": "354 go on",
    "MESSAGE": "250 taken",
    "RSET": "250 ok",
    "NOOP": "250 ok",
    "AUTH": "235 welcome",
    "STARTTLS": "220 ready",
    "QUIT": "221 bye",
}


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message as it arrived, with its envelope; `is_encrypted`: over TLS."""

    sender: str
    recipients: list[str]
    raw: bytes
    is_encrypted: bool

    @property
    def text(self) -> str:
        """The text body, with line feeds, without one at the end."""
        part = self.message.get_body(("plain",))
        assert part is not None
        return str(part.get_content()).replace("\r\n", "\n").rstrip("\n")

    @property
    def message(self) -> EmailMessage:
        """The parsed message."""
        return cast(EmailMessage, email.message_from_bytes(self.raw, policy=email.policy.default))


class Sink:
    """Accepts mail, or replies as `scripts` say; `folder` has the certificate for TLS (cert.pem, key.pem)."""

    def __init__(self, folder: Path | None = None, *, is_tls: bool = False) -> None:
        self.messages: list[ReceivedMessage] = []
        self.commands: list[str] = []
        self.scripts: list[Mapping[str, str]] = []
        self.extensions = ["8BITMIME", "SMTPUTF8", "AUTH PLAIN", *(["STARTTLS"] if folder and not is_tls else [])]
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if folder:
            self.tls.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        self.is_tls = is_tls
        self._server = _Server(("127.0.0.1", 0), _Conversation)
        self._server.owner = self
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self._server.server_address[1])

    def script(self) -> Mapping[str, str]:
        """Return the script of the next connection."""
        return self.scripts.pop(0) if len(self.scripts) > 1 else (self.scripts or [{}])[0]

    def stop(self) -> None:
        """Close the server."""
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    owner: Sink

    def handle_error(self, *_: object) -> None:
        """Ignore errors: some tests refuse the certificate."""


class _Conversation(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.owner, self.script = self.server.owner, self.server.owner.script()
        self.sender, self.recipients = "", list[str]()
        self.is_encrypted = False
        self.lines = self.request.makefile("rb")
        if self.owner.is_tls:
            self._encrypt()
        self._say("220 sink")
        while line := self.lines.readline().decode().rstrip("\r\n"):
            verb = line.split(" ")[0].upper()
            self.owner.commands.append(line)
            if not self._answer(verb, line):
                return

    def finish(self) -> None:
        """Close the connection, also the TLS socket around it."""
        self.lines.close()
        self.request.close()

    def _answer(self, verb: str, line: str) -> bool:
        if verb == "EHLO" and verb not in self.script:
            names = ["sink", *self.owner.extensions]
            return self._say("\r\n".join(f"250{'-' if name != names[-1] else ' '}{name}" for name in names))
        reply = self.script.get(verb, _DEFAULT_REPLIES.get(verb, "502 what?"))
        if verb == "MAIL":
            self.sender, self.recipients = _mailbox(line), []
        elif verb == "RCPT" and reply.startswith("2"):
            self.recipients.append(_mailbox(line))
        elif verb == "DATA" and reply.startswith("354"):
            self._say(reply)
            reply = self._receive_message()
        if not self._say(reply):
            return False
        if verb == "STARTTLS" and reply.startswith("2"):
            self._encrypt()
        return verb != "QUIT"

    def _receive_message(self) -> str:
        raw = b""
        while (line := self.lines.readline()) not in (b".\r\n", b""):
            raw += line.removeprefix(b".") if line.startswith(b"..") else line
        reply = self.script.get("MESSAGE", _DEFAULT_REPLIES["MESSAGE"])
        if reply == HANG_UP or reply.startswith("2"):
            self.owner.messages.append(ReceivedMessage(self.sender, self.recipients, raw, self.is_encrypted))
        return reply

    def _encrypt(self) -> None:
        self.lines.close()
        self.request = self.owner.tls.wrap_socket(self.request, server_side=True)
        self.is_encrypted = True
        self.lines = self.request.makefile("rb")

    def _say(self, reply: str) -> bool:
        if reply != HANG_UP:
            self.request.sendall(reply.encode() + b"\r\n")
        return reply != HANG_UP


def _mailbox(line: str) -> str:
    return line.partition("<")[2].partition(">")[0]
