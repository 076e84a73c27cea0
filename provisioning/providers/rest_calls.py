"""Calls of an HTTP service: bounded in time and size, repeated only because all of them may be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import requests
from pydantic import ValidationError
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3.util.retry import Retry

from bridge.faults import phrases
from provisioning.bounded import bounded
from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import TypeAdapter

T = TypeVar("T")
_IDEMPOTENT = ("GET", "PUT", "DELETE")
_PASSING = (429, 500, 502, 503, 504)
_LARGEST_BYTES = 4_194_304
_SHOWN = 200

_CAUSES = (
    (requests.ConnectTimeout, "", "no connection in time"),
    (requests.RequestException, "Read timed out", "no answer in time"),
    (requests.exceptions.SSLError, "", "no safe connection, its certificate was not accepted"),
    (requests.exceptions.ChunkedEncodingError, "", "the answer broke off"),
    (requests.exceptions.ContentDecodingError, "", "the answer cannot be decoded"),
    (requests.ConnectionError, "refused", "the connection was refused"),
    (requests.ConnectionError, "", "there is no connection, or it broke off"),
    (requests.RequestException, "", "it cannot be called"),
)


class RefusedError(ProviderError):
    """The service understood a call and refused it, with a status from 400 to 499."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class CallLimits:
    """Limits of a call.

    Attributes:
        connect_s: Until a connection stands, s.
        read_s: Between two pieces of an answer, s.
        total_s: Of the call with all its repetitions, s.
        retries: Repetitions at the most, where no answer came or the service is in trouble.
        backoff_s: Before the second repetition, s; each pause is twice the one before, and there is none
            before the first.
    """

    connect_s: float = 3.0
    read_s: float = 10.0
    total_s: float = 30.0
    retries: int = 2
    backoff_s: float = 0.5


class _Bearer(AuthBase):
    """As an object of its own, since requests would put a password of ~/.netrc in the place of a header."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class RestCalls:
    """Calls of one service.

    Args:
        url: Its address, without a slash at the end.
        limits: Of each call.
        token_file: Holds the bearer token; read for each call, so that it may change. None: no token.
    """

    def __init__(self, url: str, limits: CallLimits, token_file: Path | None = None) -> None:
        self._url = url
        self._limits = limits
        self._token_file = token_file

    def call(
        self,
        method: str,
        path: str,
        answer: TypeAdapter[T],
        body: Mapping[str, Any] | None = None,
        key: str = "",
    ) -> T:
        """Call the service and return its answer.

        Args:
            method: One of GET, PUT and DELETE.
            path: Below the address, with a slash first.
            answer: What the answer's JSON has to be.
            body: Sent as JSON.
            key: Idempotency-Key; empty: none.

        Raises:
            RefusedError: It was refused.
            ProviderError: No answer in time, or one that makes no sense.
        """
        where = f"{method} {self._url}{path}"
        headers = {"Idempotency-Key": key} if key else {}
        token = self._token()
        try:
            status, content = bounded(
                partial(self._exchange, method, path, body, headers, token), self._limits.total_s
            )
        except TimeoutError:
            raise ProviderError(f"{where}: no answer within {self._limits.total_s:g} s") from None
        except requests.RequestException as error:
            raise ProviderError(f"{where}: {_cause(error)}") from None
        if len(content) > _LARGEST_BYTES:
            raise ProviderError(f"{where}: the answer is longer than {_LARGEST_BYTES} bytes")
        if not 200 <= status < 300:
            said = _one_line(content)
            message = f"{where}: status {status}" + (f": {said}" if said else "")
            raise RefusedError(message, status) if 400 <= status < 500 else ProviderError(message)
        try:
            return answer.validate_json(content)
        except ValidationError as error:
            raise ProviderError(f"{where}: the answer makes no sense: {phrases(error)[0]}") from None

    def _exchange(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        token: str,
    ) -> tuple[int, bytes]:
        retry = Retry(
            self._limits.retries,
            backoff_factor=self._limits.backoff_s / 2.0,
            allowed_methods=_IDEMPOTENT,
            status_forcelist=_PASSING,
            raise_on_status=False,
            respect_retry_after_header=False,
        )
        with requests.Session() as session:
            for scheme in ("http://", "https://"):
                session.mount(scheme, HTTPAdapter(max_retries=retry))
            with session.request(
                method,
                self._url + path,
                json=body,
                headers=headers,
                auth=_Bearer(token) if token else None,
                timeout=(self._limits.connect_s, self._limits.read_s),
                allow_redirects=False,  # the token is meant for this address only
                stream=True,
            ) as response:
                content = b""
                for piece in response.iter_content(65_536):
                    content += piece
                    if len(content) > _LARGEST_BYTES:
                        break
                return response.status_code, content

    def _token(self) -> str:
        if self._token_file is None:
            return ""
        try:
            token = self._token_file.read_text(encoding="ascii").strip()
        except OSError as error:
            raise ProviderError(f"{self._token_file}: cannot be read ({error.strerror})") from None
        except UnicodeDecodeError:
            raise ProviderError(f"{self._token_file}: is not ASCII text") from None
        if not token or any(not each.isprintable() or each.isspace() for each in token):
            raise ProviderError(f"{self._token_file}: must hold a token, and nothing else, in one line")
        return token


def _cause(error: requests.RequestException) -> str:
    """Return in plain words why no answer came; urllib3 has them in several layers."""
    return next(words for kind, sign, words in _CAUSES if isinstance(error, kind) and sign in str(error))


def _one_line(content: bytes) -> str:
    """Return what a service says about a refusal: `error` of its JSON, or the begin of its text."""
    try:
        said = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        said = content.decode(errors="replace")
    return " ".join(str(said).split())[:_SHOWN]
