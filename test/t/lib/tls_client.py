"""One TLS connection, led by commands on standard input: usage tls_client.py PORT CA-FILE.

Each command is a line, each answer is a line:
  send HEX     bytes inside TLS                         -> ok | closed
  raw HEX      bytes outside TLS                        -> ok | closed
  receive      what comes until an answer is whole      -> TEXT in hex, or "closed" when nothing came
  crowd N HEX  N more connections, which stay; HEX goes over each -> the number of those that were answered with 200
  half         the end of what is sent, also of the TCP stream; what comes can still be received -> ok
The first line tells how the handshake went: "VERSION SERIAL-OF-THE-CERTIFICATE" or "failed REASON".
"""
import re
import socket
import ssl
import sys


class Tls:
    """TLS over a socket, with the bytes in our own hands, so that either side can end alone."""

    def __init__(self, port, ca, timeout=30):
        context = ssl.create_default_context(cafile=ca)
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.work(self.tls.do_handshake)

    def work(self, call, *arguments):
        """Run a call of the TLS library, moving bytes as it asks for them."""
        while True:
            try:
                result = call(*arguments)
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                data = self.socket.recv(65536)
                if not data:
                    self.incoming.write_eof()
                self.incoming.write(data)

    def flush(self):
        data = self.outgoing.read()
        if data:
            self.socket.sendall(data)

    def send(self, data):
        self.work(self.tls.write, data)

    def receive(self):
        """One answer with its body, or what comes until the end."""
        text = b""
        while True:
            head, blank, body = text.partition(b"\r\n\r\n")
            length = re.search(rb"\r\ncontent-length: (\d+)", head, re.I)
            if blank and length and len(body) >= int(length[1]):
                return text
            try:
                piece = self.work(self.tls.read, 65536)
            except (ssl.SSLError, OSError):
                piece = b""
            if not piece:
                return text
            text += piece

    def half(self):
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass
        self.flush()
        self.socket.shutdown(socket.SHUT_WR)


def main():
    try:
        client = Tls(int(sys.argv[1]), sys.argv[2])
    except (ssl.SSLError, OSError) as error:
        print("failed", str(error).replace("\n", " "), flush=True)
        return
    print(client.tls.version(), client.tls.getpeercert()["serialNumber"], flush=True)
    crowd = []
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        answer = "ok"
        try:
            if command == "send":
                client.send(bytes.fromhex(argument))
            elif command == "raw":
                client.socket.sendall(bytes.fromhex(argument))
            elif command == "receive":
                answer = client.receive().hex() or "closed"
            elif command == "crowd":
                count, text = argument.split()
                crowd += [Tls(int(sys.argv[1]), sys.argv[2]) for _ in range(int(count))]
                for one in crowd:
                    one.send(bytes.fromhex(text))
                answer = str(sum(one.receive().startswith(b"HTTP/1.1 200 ") for one in crowd))
            elif command == "half":
                client.half()
        except (ssl.SSLError, OSError):
            answer = "closed"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
