"""The text of a JSON file through a window that moves: values are decoded one by one, in bounded memory.

RFC 8259, section 8.1, asks for UTF-8; UTF-16 and UTF-32 are told by a byte order mark or by where their zero bytes
stand. Places are given in lines and columns, counted from 1.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import EncodingProblem, FileCorrupt, FileEmpty
from .json_decoding import Notes, decoder, reason

_CHUNK = 1 << 20
_SPACE = re.compile(r"[ \t\n\r]*")
_NEAR_END = 16  # a word or an escape that the window's end may have cut is shorter
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _scanner(made: json.JSONDecoder) -> Callable[[str, int], tuple[Any, int]]:
    """The function under raw_decode, which tells where it stopped."""
    scan: Callable[[str, int], tuple[Any, int]] = made.scan_once  # type: ignore[attr-defined]
    return scan


class TooDeep(FileCorrupt):
    """Brackets within brackets without end."""


class TextWindow:
    """A position in a JSON text. `text[pos:]` is what comes next, as far as it has been read.

    Raises FileCorrupt with line and column, EncodingProblem with the line.
    """

    def __init__(self, path: str, name: str, *, written: bool = False) -> None:
        self.name = name
        self.notes = Notes()
        self.text, self.pos, self.start = "", 0, 0
        self.final = False
        self.half_pairs = False
        self.one_to_a_line = False  # so that an error names the line where its value began
        self._path, self._written = path, written
        self._scan = _scanner(decoder(self.notes, written=written))
        self._held = False
        self._lines, self._columns = 0, 0
        raw = Path(path).open("rb")  # noqa: SIM115 - closed by close()
        self.encoding = json.detect_encoding(raw.read(4))
        raw.seek(0)
        self._stream = io.TextIOWrapper(raw, self.encoding, newline="")

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> TextWindow:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- moving

    def peek(self) -> str:
        """The next sign that is no white space, with the position on it; "" at the end of the text."""
        while True:
            match = _SPACE.match(self.text, self.pos)
            self.pos = match.end() if match else self.pos
            if self.pos < len(self.text):
                return self.text[self.pos]
            if not self._grow():
                return ""

    def take(self, sign: str) -> bool:
        """Passes over this sign where it is the next."""
        if self.peek() != sign:
            return False
        self.pos += 1
        return True

    def value(self) -> Any:
        """The value that begins at the position, which is left behind it; `start` is where it began."""
        while True:
            found = self._attempt()
            if found is not None:
                self.start, self.pos = self.pos, found[1]
                return found[0]
            self._grow()

    def whole_value_at_hand(self) -> bool:
        """Whether the value at the position is complete in what has been read. Damage in it is told by `value`."""
        try:
            return self._attempt() is not None
        except FileCorrupt:
            return False

    def ends_line(self) -> bool:
        """Whether the text, or its line, ends right behind the value that was decoded last."""
        if self.pos >= len(self.text) and not self.final:
            self._held = True
            self._grow()
            self._held = False
        return self.text[self.pos : self.pos + 1] in ("", "\n", "\r")

    def source(self) -> str:
        """The text of the value that was decoded last."""
        return self.text[self.start : self.pos]

    def followed_by_more(self, limit: int) -> bool | None:
        """Whether anything but white space follows the value here; None where it does not end within `limit` signs.

        The position stays where it is.
        """
        begin, self._held = self.pos, True
        try:
            while (found := self._attempt()) is None:
                if len(self.text) - begin > limit:
                    return None
                self._grow()
            self.pos = found[1]
            return self.peek() != ""
        finally:
            self.pos, self._held = begin, False

    def _attempt(self) -> tuple[Any, int] | None:
        """The value and where it ends, or None where more text is needed to tell."""
        problem: json.JSONDecodeError | str
        try:
            found, end = self._scan(self.text, self.pos)
        except StopIteration as stop:
            problem, at = "Expecting value", int(stop.value)
        except json.JSONDecodeError as failure:
            problem, at = failure, failure.pos
        except RecursionError:
            raise self.too_deep() from None
        except ValueError:  # an integer of thousands of digits
            self._scan = _scanner(decoder(self.notes, written=self._written, long_integers=True))
            return self._attempt()
        else:
            if end < len(self.text) or self.final or self.text[end - 1] in '"}]':
                return found, end
            return None
        open_text = not isinstance(problem, str) and problem.msg.startswith("Unterminated")
        if self.final or not (open_text or at > len(self.text) - _NEAR_END):
            raise self.corrupt(problem, at)
        return None

    def _grow(self) -> bool:
        """Reads on; False at the end. The window doubles while one value needs it, and forgets what lies behind."""
        if self.final:
            return False
        if self.pos and not self._held:
            self._forget(self.pos)
        try:
            more = self._stream.read(max(_CHUNK, len(self.text)))
        except UnicodeError:
            raise self._undecodable() from None
        self.final = not more
        self.half_pairs = self.half_pairs or _HALF.search(more) is not None
        self.text += more
        return bool(more)

    def _forget(self, count: int) -> None:
        lines = self.text.count("\n", 0, count)
        self._lines += lines
        self._columns = count - self.text.rindex("\n", 0, count) - 1 if lines else self._columns + count
        self.text = self.text[count:]
        self.pos, self.start = self.pos - count, 0

    # ---- places and errors

    def place(self, position: int) -> tuple[int, int]:
        """Line and column of a position of `text`."""
        lines = self.text.count("\n", 0, position)
        if lines == 0:
            return self._lines + 1, self._columns + position + 1
        return self._lines + lines + 1, position - self.text.rindex("\n", 0, position)

    def corrupt(self, problem: json.JSONDecodeError | str, position: int) -> FileCorrupt:
        """The error for what stands at a position, naming line and column, and the line where the value began."""
        said = reason(problem, self.text, position)
        line, column = self.place(position)
        begun = self.place(self.pos)[0]
        where = f"line {line}, column {column}"
        if self.one_to_a_line and begun < line and self._own_line(self.pos):
            where += f" (in the value that begins on line {begun} and is not complete there)"
        return FileCorrupt(
            f"{self.name!r} is not valid JSON: {said} at {where}.",
            "Mend the file at that place and send the call again; nothing was read from it.",
            details={"line": line, "column": column, "record_begins_on_line": begun},
        )

    def _own_line(self, position: int) -> bool:
        line = self.text.rfind("\n", 0, position) + 1
        return not self.text[line:position].strip()

    def empty(self) -> FileEmpty:
        return FileEmpty(f"{self.name!r} holds no JSON: it is empty or blank.", "Choose a file that holds something.")

    def too_deep(self) -> TooDeep:
        """The error for nesting beyond what the decoder follows (about a thousand levels)."""
        line, column = self.place(self.pos)
        return TooDeep(
            f"{self.name!r} is nested too deeply to be read, in the value at line {line}, column {column}.",
            "Brackets within brackets are followed for about 900 levels. Choose another file.",
        )

    def _undecodable(self) -> EncodingProblem:
        guidance = "Save the file as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8, say) and send the call again."
        name = self.encoding.upper().replace("-SIG", "")
        if name != "UTF-8":
            return EncodingProblem(f"{self.name!r} looks like {name}, but is not valid {name}.", guidance)
        with Path(self._path).open("rb") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as problem:
                    byte = line[problem.start]
                    return EncodingProblem(f"{self.name!r} is not UTF-8: byte 0x{byte:02X} on line {number:,}.", guidance)
        return EncodingProblem(f"{self.name!r} is not UTF-8.", guidance)
