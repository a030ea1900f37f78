"""Values of the fixtures: what a column of an Arrow type must be in SQL, given the text form of the expected rows.

A comparison takes what to_json() gives of a value, parsed with all numbers as Decimal, and the expected JSON.
"""
import json
import re
import struct
import zlib
from decimal import Decimal


def _split(text):
    """The parts of "a: b, c: d<e, f>", cut at commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<[(") - (c in ">])")
        if c == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in parts + [text[start:]] if p.strip()]


def _same_float(got, want):
    if isinstance(got, str) or isinstance(want, str):
        return got == want
    return float(got) == float(want)


def _narrow(value):
    return struct.unpack("f", struct.pack("f", float(value)))[0]


def _same_real(got, want):
    if got is None or isinstance(got, str) or isinstance(want, str):
        return got == want
    return _narrow(got) == _narrow(want)


def _cut(text):
    """A time without the digits below the microsecond and without trailing zeros."""
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)
    return re.sub(r"\.?0+$", "", text) if "." in text else text


def _same_time(got, want):
    return isinstance(got, str) and _cut(got) == _cut(want)


def _same_zoned(got, want):
    return isinstance(got, str) and got.endswith("+00:00") and want.endswith("Z") and _cut(got[:-6]) == _cut(want[:-1])


def _same_bytes(got, want):
    if not isinstance(want, str) or want in ("NaN", "Infinity", "-Infinity"):
        return _same_real(got, want)  # bfloat16, which Arrow holds as two bytes
    return isinstance(got, str) and (got == "\\x" + want or got.replace("-", "") == want)


def _duration(unit):
    def same(got, want):
        micros = Decimal(want) * {"s": 1000000, "ms": 1000, "us": 1, "ns": Decimal("0.001")}[unit]
        return got is not None and Decimal(got) * 1000000 == micros.__floor__()

    return same


def _list(item):
    item = comparison(item)

    def same(got, want):
        if isinstance(want, dict):  # a long list, as its length and the CRC-32 of its text
            text = json.dumps([None if g is None else int(g) if isinstance(g, Decimal) else g for g in got],
                              separators=(",", ":"))
            return len(got) == want["len"] and zlib.crc32(text.encode()) == want["crc32"]
        return isinstance(got, list) and len(got) == len(want) and all(map(item, got, want))

    return same


def _struct(fields):
    members = {}
    for f in _split(fields):
        key, kind = f.split(": ", 1)
        members[key] = comparison(kind)

    def same(got, want):
        return (isinstance(got, dict) and got.keys() == want.keys() == members.keys() and
                all(members[k](got[k], want[k]) for k in members))

    return same


def _map(text):
    key, value = map(comparison, _split(text))

    def same(got, want):
        if isinstance(got, dict):  # text keys: the last of repeated ones stays
            last = dict(want)
            return got.keys() == last.keys() and all(value(got[k], last[k]) for k in last)
        return (isinstance(got, list) and len(got) == len(want) and
                all(key(g[0], w[0]) and value(g[1], w[1]) for g, w in zip(got, want)))

    return same


def _decimal(got, want):
    return isinstance(got, Decimal) and got == Decimal(want)


def _json(got, want):
    def normal(v):
        if isinstance(v, dict):
            return {k: normal(x) for k, x in v.items()}
        if isinstance(v, list):
            return [normal(x) for x in v]
        return float(v) if isinstance(v, Decimal) else v

    return normal(got) == normal(parse(want))


def _exact(got, want):
    return type(got) is not bool and got == want


def comparison(arrow):
    """A function (got, want) -> bool for an Arrow type as pyarrow writes it."""
    arrow = arrow.removesuffix(" not null")
    for head, make in (("list<item: ", _list), ("large_list<item: ", _list), ("fixed_size_list<item: ", _list),
                       ("struct<", _struct), ("map<", _map), ("dictionary<values=", None)):
        if arrow.startswith(head):
            inside = arrow[len(head):arrow.rindex(">")]
            same = make(inside) if make else comparison(_split(inside)[0])
            break
    else:
        unit = re.search(r"\[(\w+)", arrow)
        if re.fullmatch(r"u?int\d+", arrow) or arrow in ("string", "large_string"):
            same = _exact
        elif arrow == "bool":
            same = lambda got, want: got is want  # noqa: E731
        elif arrow == "null":
            same = lambda got, want: False  # noqa: E731 - there is no value but NULL
        elif arrow in ("halffloat", "float"):
            same = _same_real
        elif arrow == "double":
            same = _same_float
        elif arrow.startswith("decimal"):
            same = _decimal
        elif arrow.startswith("date"):
            same = lambda got, want: got == want[:10]  # noqa: E731
        elif arrow.startswith("timestamp"):
            same = _same_zoned if "tz=" in arrow else _same_time
        elif arrow.startswith("time"):
            same = _same_time
        elif arrow.startswith("duration"):
            same = _duration(unit[1])
        elif arrow == "extension<arrow.json>":
            same = _json
        elif arrow in ("extension<arrow.uuid>", "extension<lance.blob.v2<BlobType>>") or "binary" in arrow:
            same = _same_bytes
        else:
            raise ValueError("no comparison for Arrow type %s" % arrow)
    if same is _json:  # a JSON null is a value
        return same
    return lambda got, want: got is want if got is None or want is None else same(got, want)


def parse(text):
    """JSON, all of its numbers exact, -0 apart from 0."""
    return json.loads(text, parse_int=Decimal, parse_float=Decimal)


def expression(column, arrow):
    """SQL for the value of a column as JSON."""
    return "to_json(extract(epoch FROM %s))" % column if arrow.startswith("duration") else "to_json(%s)" % column


def signs_of_zeros(value):
    """Which zeros of a number or of lists of numbers are negative: jsonb does not keep that, arrays do."""
    if isinstance(value, list):
        return [signs_of_zeros(v) for v in value]
    return isinstance(value, Decimal) and value == 0 and value.is_signed()
