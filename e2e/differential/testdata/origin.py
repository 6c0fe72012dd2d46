"""A server that prints what it understood of each request, before it answers."""
import hashlib, http.server, json, socket, ssl, sys, threading

lock = threading.Lock()


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 8192

    def answer(self):
        body, complete = self.body()
        path = self.translate_path(self.path)
        entry = {
            "peer": self.client_address[0], "method": self.command, "target": self.path, "path": path,
            "host": self.headers.get("Host", ""), "length": len(body), "sum": hashlib.sha256(body).hexdigest(),
            "complete": complete, "headers": [name.lower() for name in self.headers],
        }
        with lock:
            sys.stdout.write(json.dumps(entry) + "\n")
            sys.stdout.flush()
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"ok\n")

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = answer

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self.chunks()
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        return body, len(body) == length

    def chunks(self):
        body = b""
        while True:
            try:
                size = int(self.rfile.readline().strip(), 16)
            except ValueError:
                return body, False
            if size == 0:
                return body, self.rfile.readline() == b"\r\n"
            body += self.rfile.read(size)
            if self.rfile.read(2) != b"\r\n":
                return body, False

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    context = None
    request_queue_size = 128

    def get_request(self):
        connection, address = self.socket.accept()
        connection.settimeout(300)
        if self.context:
            connection = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, *_):
        pass


plain, secure, cert, key = sys.argv[1:]
handler = lambda *args: Handler(*args, directory="/")
servers = [Server(("127.0.0.1", int(port)), handler) for port in (plain, secure)]
servers[1].context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
servers[1].context.load_cert_chain(cert, key)
threading.Thread(target=servers[0].serve_forever).start()
servers[1].serve_forever()
