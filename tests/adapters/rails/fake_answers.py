"""How the fake processor answers: as it should, or as a fault says that it was told."""

import json
import time
from typing import Any

from commands.demo.prompt_handler import PromptHandler

_HANG_S = 30


class Answering(PromptHandler):
    """A handler with every way to answer badly. The event `is_stopped` of its server lets go of what hangs."""

    protocol_version = "HTTP/1.1"

    def refuses(self, fault: str, rejection: Any, status: int = 400) -> bool:
        """Answer what comes before anything is made, and say whether that was all."""
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
        """Answer after all is done, or not as one should."""
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
        """Answer with an object, or a page of a list: from the second page on as the service's `page_fault` says."""
        fake = self.server.fake  # type: ignore[attr-defined]
        if not fake.page_fault or "data" not in page:
            self.answer(200, page)
        elif not hasattr(fake, "first_page"):
            fake.first_page = page
            self.answer(200, page)
        elif fake.page_fault == "500":
            self.answer(500, {"error": {"type": "api_error", "message": "sorry"}})
        elif fake.page_fault == "repeat":
            self.answer(200, fake.first_page)
        else:
            self.answer(200, page | {"data": [{"id": one["id"], "object": one["object"]} for one in page["data"]]})

    def answer(self, status: int, answer: Any, *, retry_after: bool = False) -> None:
        """Answer with JSON."""
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
