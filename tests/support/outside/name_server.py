"""A DNS server for the tests, on UDP at 127.0.0.1."""

import socket
import threading

import dns.flags
import dns.message
import dns.rcode
import dns.rrset


class NameServer:
    """Answers from `zone`, which maps (name, type) to the texts of the records; other names do not exist (NXDOMAIN).

    A name with an empty list of records exists without records. `silent` names get no answer, `broken` ones SERVFAIL.
    `queries` has every query once, even if a client repeated it because the answer was late.
    """

    def __init__(self) -> None:
        self.zone: dict[tuple[str, str], list[str]] = {}
        self.silent: set[str] = set()
        self.broken: set[str] = set()
        self.queries: list[tuple[str, str]] = []
        self._seen_queries: set[tuple[int, str, str]] = set()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop answering."""
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while packet := self._socket.recvfrom(4096):
            wire, sender = packet
            if not wire:
                return
            query = dns.message.from_wire(wire)
            name = query.question[0].name.to_text(omit_final_dot=True)
            kind = query.question[0].rdtype.name
            if (query.id, name, kind) not in self._seen_queries:
                self._seen_queries.add((query.id, name, kind))
                self.queries.append((name, kind))
            if name not in self.silent:
                self._socket.sendto(self._answer(query, name, kind).to_wire(), sender)

    def _answer(self, query: dns.message.Message, name: str, kind: str) -> dns.message.Message:
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        if name in self.broken:
            answer.set_rcode(dns.rcode.SERVFAIL)
        elif texts := self.zone.get((name, kind)):
            answer.answer.append(dns.rrset.from_text_list(f"{name}.", 60, "IN", kind, texts))
        elif not any(records == name for records, _ in self.zone):
            answer.set_rcode(dns.rcode.NXDOMAIN)
        return answer
