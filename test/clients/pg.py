"""A connection to PostgreSQL through libpq itself: the checks need SQLSTATEs and one session, and no driver installed."""
import ctypes
import ctypes.util

_pq = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
_P, _S, _I = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
for _name, _result, _arguments in (
        ("PQconnectdb", _P, [_S]), ("PQstatus", _I, [_P]), ("PQerrorMessage", _S, [_P]), ("PQfinish", None, [_P]),
        ("PQexec", _P, [_P, _S]), ("PQresultStatus", _I, [_P]), ("PQresultErrorField", _S, [_P, _I]), ("PQclear", None, [_P]),
        ("PQntuples", _I, [_P]), ("PQnfields", _I, [_P]), ("PQfname", _S, [_P, _I]), ("PQgetisnull", _I, [_P, _I, _I]),
        ("PQgetvalue", _S, [_P, _I, _I]), ("PQbackendPID", _I, [_P]),
        ("PQsetNoticeProcessor", _P, [_P, _P, _P])):
    _function = getattr(_pq, _name)
    _function.restype, _function.argtypes = _result, _arguments
_NOTICE = ctypes.CFUNCTYPE(None, _P, _S)


class Error(Exception):
    def __init__(self, state, message, detail):
        super().__init__("%s %s%s" % (state, message, " [%s]" % detail if detail else ""))
        self.state, self.message, self.detail = state, message, detail


class Session:
    """One connection, to the server of the environment (PGHOST, ...)."""

    def __init__(self, options=""):
        self.notices = []
        self._processor = _NOTICE(lambda _, text: self.notices.append(text.decode()))
        self._conn = _pq.PQconnectdb(options.encode())
        if _pq.PQstatus(self._conn) != 0:
            raise Error("08001", _pq.PQerrorMessage(self._conn).decode(), "")
        _pq.PQsetNoticeProcessor(self._conn, ctypes.cast(self._processor, _P), None)

    @property
    def pid(self):
        return _pq.PQbackendPID(self._conn)

    def rows(self, sql):
        """Run SQL; the rows of the last statement, as tuples of texts and None."""
        result = _pq.PQexec(self._conn, sql.encode())
        try:
            if _pq.PQresultStatus(result) not in (1, 2):
                field = [(_pq.PQresultErrorField(result, ord(c)) or b"").decode() for c in "CMD"]
                raise Error(field[0] or "08006", field[1] or _pq.PQerrorMessage(self._conn).decode(), field[2])
            value, null, n = _pq.PQgetvalue, _pq.PQgetisnull, range(_pq.PQnfields(result))
            return [tuple([None if null(result, i, j) else value(result, i, j).decode() for j in n])
                    for i in range(_pq.PQntuples(result))]
        finally:
            _pq.PQclear(result)

    def row(self, sql):
        return self.rows(sql)[0]

    def value(self, sql):
        return self.row(sql)[0]

    def close(self):
        _pq.PQfinish(self._conn)


def literal(text):
    """A text as an SQL literal."""
    return "'%s'" % text.replace("'", "''") if "\\" not in text else " E'%s'" % text.replace("\\", "\\\\").replace("'", "''")


def name(text):
    """A text as an SQL name."""
    return '"%s"' % text.replace('"', '""')
