"""Responses of the fake processor: correct ones, and faulty ones by fault name."""

import json
import time
from typing import Any

from commands.demo.no_delay_handler import NoDelayHandler

_HANG_S = 30


class FaultyHandler(NoDelayHandler):
    """A handler of faulty responses. The event `is_stopped` of its server releases hanging requests."""

    protocol_version = "HTTP/1.1"

    def refuses(self, fault: str, rejection: Any, status: int = 400) -> bool:
        """Send the response of a fault that prevents the transfer. Return whether the fault was one of those."""
        refusals = {
            "reject": (status, rejection),
            "500_before": (500, {"name": "INTERNAL_ERROR", "error": {"type": "api_error", "message": "sorry"}}),
            "429": (
                429,
                {"name": "RATE_LIMIT_REACHED", "error": {"type": "invalid_request_error", "code": "rate_limit"}},
            ),
            "401": (
                401,
                {"name": "AUTHENTICATION_FAILURE", "error": {"type": "authentication_error", "message": "no"}},
            ),
            "403": (403, {"name": "NOT_AUTHORIZED", "error": {"type": "permission_error", "message": "no"}}),
        }
        if fault in refusals:
            self.answer(*refusals[fault], retry_after=fault == "429")
        elif fault == "html_400":
            self._send(400, b"<html>Bad request</html>")
        elif fault in ("hang_before", "cut_before"):
            self.end(fault, 500, {})
        else:
            return False
        return True

    def end(self, fault: str, status: int, answer: Any) -> None:
        """Send the response after the transfer is booked, or a faulty one."""
        if fault.startswith("hang"):
            self.server.is_stopped.wait(_HANG_S)  # type: ignore[attr-defined]
            self.close_connection = True
        elif fault.startswith("cut"):
            self._send(status, json.dumps(answer).encode(), cut=True)
        elif fault.startswith("say "):
            self._send(status, fault.removeprefix("say ").encode())
        elif fault == "500_after":
            self.answer(500, {"name": "INTERNAL_ERROR", "error": {"type": "api_error", "message": "sorry"}})
        else:
            time.sleep(0.2 if fault == "slow" else 0)
            self.answer(status, answer)

    def answer_page(self, page: dict[str, Any]) -> None:
        """Respond with an object, or a page of a list; the service's `page_fault` applies from the second page on."""
        processor = self.server.fake  # type: ignore[attr-defined]
        if not processor.page_fault or "data" not in page:
            self.answer(200, page)
        elif not hasattr(processor, "first_page"):
            processor.first_page = page
            self.answer(200, page)
        elif processor.page_fault == "500":
            self.answer(500, {"error": {"type": "api_error", "message": "sorry"}})
        elif processor.page_fault == "repeat":
            self.answer(200, processor.first_page)
        else:
            self.answer(200, page | {"data": [{"id": item["id"], "object": item["object"]} for item in page["data"]]})

    def answer(self, status: int, answer: Any, *, retry_after: bool = False) -> None:
        """Respond with JSON."""
        self._send(status, json.dumps(answer).encode(), {"Retry-After": "7"} if retry_after else {})

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None, *, cut: bool = False) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut
