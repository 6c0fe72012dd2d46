// A server that prints what it understood of each request, before it answers.
const http = require("http"), http2 = require("http2"), fs = require("fs"), crypto = require("crypto");
const [plain, secure, cert, key] = process.argv.slice(2);

function resource(target) {
  try {
    return decodeURIComponent(new URL(target, "http://origin").pathname);
  } catch (e) {
    return "unreadable: " + e;
  }
}

function handle(request, response) {
  const chunks = [];
  let told = false;
  const tell = (complete) => {
    if (told) return;
    told = true;
    const body = Buffer.concat(chunks);
    process.stdout.write(JSON.stringify({
      peer: request.socket.remoteAddress, method: request.method, target: request.url, path: resource(request.url),
      host: request.headers.host || request.headers[":authority"] || "", length: body.length, sum: crypto.createHash("sha256").update(body).digest("hex"),
      complete, headers: Object.keys(request.headers).filter((name) => name[0] !== ":"),
    }) + "\n");
  };
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => { tell(true); response.end("ok\n"); });
  request.on("aborted", () => tell(false));
  request.on("error", () => tell(false));
}

const options = { maxHeaderSize: 1 << 17, keepAliveTimeout: 120000 };
http.createServer(options, handle).listen(+plain, "127.0.0.1");
http2.createSecureServer({ ...options, allowHTTP1: true, cert: fs.readFileSync(cert), key: fs.readFileSync(key) }, handle).listen(+secure, "127.0.0.1");
