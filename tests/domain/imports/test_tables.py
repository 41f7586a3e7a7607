"""Splitting whole exports: encodings, separators, several tables in one file, and the lines of rows."""

import pytest

from domain.imports import tables
from domain.imports.tables import UnreadableFile


def _open(data, is_wanted=lambda name: True):
    header, rows = tables.open_table(data if isinstance(data, bytes) else data.encode(), is_wanted)
    return header, [(line, list(cells)) for line, cells in rows]


@pytest.mark.parametrize(
    "data",
    [
        "name,mail\nZoë 李,z@x.test\n".encode(),
        "\ufeffname,mail\nZoë 李,z@x.test\n".encode(),
        "name\tmail\r\nZoë 李\tz@x.test\r\n".encode("utf-16"),
        "name;mail\rZoë 李;z@x.test".encode(),
        "name|mail\nZoë 李|z@x.test\n".encode(),
        "sep=|\nname|mail\nZoë 李|z@x.test\n".encode(),
    ],
    ids=["UTF-8", "byte order mark", "UTF-16", "semicolons", "bars", "line of the separator"],
)
def test_every_encoding_and_separator_gives_the_same_cells(data):
    header, rows = _open(data)

    assert header.names == ("name", "mail")
    assert [cells for _, cells in rows] == [["Zoë 李", "z@x.test"]]


def test_rows_have_the_line_where_they_start_and_empty_ones_are_skipped():
    _, rows = _open('a,b\n"one\ntwo",2\n\n,\nthree,3\n\n \n,,\n')

    assert rows == [(2, ["one\ntwo", "2"]), (6, ["three", "3"])]


def test_ten_thousand_empty_lines_at_the_end_are_no_error():
    assert _open("a,b\n1,2\n" + "\n" * 20_000)[1] == [(2, ["1", "2"])]
    with pytest.raises(UnreadableFile, match="10000 empty lines"):
        _open("a,b\n" + "\n" * 10_001 + "1,2\n")


_TABLES = "[[AFFILIATES]]\n!USERID;!REFID\nu1;ann\n\n[[COMMISSIONS]]\n!TRANSID;!USERID;!COMMISSION\nt1;u1;5\nt2;u1;6\n"


def test_first_table_ends_where_the_next_begins():
    header, rows = _open(_TABLES)

    assert (header.table, header.names) == ("AFFILIATES", ("!USERID", "!REFID"))
    assert rows == [(3, ["u1", "ann"])]


def test_wanted_table_is_read_with_its_own_header_and_lines():
    header, rows = _open(_TABLES, lambda name: name == "COMMISSIONS")

    assert (header.table, header.names) == ("COMMISSIONS", ("!TRANSID", "!USERID", "!COMMISSION"))
    assert rows == [(7, ["t1", "u1", "5"]), (8, ["t2", "u1", "6"])]


def test_file_without_the_wanted_table_is_refused():
    with pytest.raises(UnreadableFile, match="no table of this kind"):
        _open(_TABLES, lambda name: name == "CODES")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "first line"),
        (b"\n\na,b\n", "first line"),
        (b"name,mail\nZo\xeb,z@x.test\n", "not a text in UTF-8"),
        (b"PK\x03\x04\x14\x00\x08\xff\xfe", "not a text in UTF-8"),
        (b"PK\x03\x04,\x00b\n1,2\n", "NUL"),
        ("a,b\n1,2\n".encode("utf-16") + b"x", "UTF-16"),
        ("a,b\n1,2\n".encode("utf-16-le"), "NUL"),
        (b'a,b\n1,"2\n', "Row 2"),
        (b'a,b\n1,2\n3,"4"x\n', "Row 3"),
        (b"a,b\n" + b"x" * 300_000, "Line 2 is longer"),
        (b"a" * 300, "more than 255 characters"),
        (b",".join([b"a"] * 101), "100 columns"),
        (b"a,b\n" + b"," * 1_002 + b"x", "1000 cells"),
        (b"[[AFFILIATES]]\n", "first line"),
    ],
)
def test_unreadable_file_is_refused_with_the_reason(data, message):
    with pytest.raises(UnreadableFile, match=message):
        _open(data)
