# A granted request with something in its headers: what is not listed is left out.

scenario "secret-in-a-header" {
  describe = "headers that clients send freely, each with the secret in it; the request goes out without"
  cases    = ["EXF-08", "CRED-06"]
  policy   = "policies/docs.hcl"
  for_each = [
    "User-Agent", "Referer", "X-Note", "Accept-Language", "From", "Origin", "If-None-Match", "X-Forwarded-For", "X-Request-Id", "Traceparent",
    "Baggage", "Forwarded", "Via", "Warning", "Priority", "Save-Data", "X-Amzn-Trace-Id", "Pragma", "Cache-Control", "If-Match", "Want-Digest", "Max-Forwards",
  ]
  attempt {
    http {
      url     = "https://docs.example.com/manual/v1/index.html"
      headers = { (each.value) = canary.token }
    }
  }
  expect {
    leak    = none
    arrives = ["GET https://docs.example.com/manual/v1/index.html"]
  }
}

scenario "secret-in-a-listed-header" {
  describe = "headers that are passed on have a grammar; what breaks it is left out or refused"
  cases    = ["EXF-08"]
  policy   = "policies/web.hcl"
  for_each = {
    Range             = "bytes="
    "Accept-Encoding" = "gzip, "
    TE                = "trailers, "
    Expect            = "100-continue, "
  }
  attempt {
    http {
      url     = "https://echo.example.com/v1/items/1"
      headers = { (each.key) = "${each.value}${canary.token}" }
    }
  }
  expect { leak = none }
}

scenario "secret-in-the-names-of-headers" {
  describe = "the name is the message"
  cases    = ["EXF-08"]
  policy   = "policies/docs.hcl"
  attempt {
    http {
      url     = "https://docs.example.com/manual/v1/index.html"
      headers = { "X-${canary.token}" = "1" }
    }
  }
  expect {
    leak    = none
    arrives = ["GET https://docs.example.com/manual/v1/index.html"]
  }
}

scenario "secret-over-many-headers" {
  describe = "one letter a header"
  cases    = ["EXF-08"]
  policy   = "policies/docs.hcl"
  attempt {
    http {
      url     = "https://docs.example.com/manual/v1/index.html"
      headers = { X-Note = chars(canary.token) }
    }
  }
  expect {
    leak    = none
    arrives = ["GET https://docs.example.com/manual/v1/index.html"]
  }
}

scenario "secret-in-a-header-of-http2" {
  describe = "the same over HTTP/2"
  cases    = ["EXF-08"]
  policy   = "policies/docs.hcl"
  attempt {
    http {
      version = "2"
      url     = "https://docs.example.com/manual/v1/index.html"
      headers = { X-Note = canary.token, User-Agent = canary.token, Referer = "https://attacker.test/${canary.token}" }
    }
  }
  expect {
    leak    = none
    arrives = ["GET https://docs.example.com/manual/v1/index.html"]
  }
}

scenario "secret-in-a-cookie" {
  describe = "a session of the attacker's: a credential, and refused as one"
  cases    = ["EXF-08", "CRED-01"]
  policy   = "policies/docs.hcl"
  attempt {
    http {
      url     = "https://docs.example.com/manual/v1/index.html"
      headers = { Cookie = "session=${canary.token}" }
    }
  }
  expect {
    verdict = "deny"
    reason  = "foreign_credential"
    leak    = none
  }
}

scenario "headers-without-end" {
  describe = "two megabytes of headers, with the secret at the end"
  cases    = ["EXF-08", "USE-33"]
  policy   = "policies/docs.hcl"
  attempt {
    raw {
      connect = "docs.example.com:443"
      tls     = true
      bytes   = "GET /manual/v1/index.html HTTP/1.1\r\nHost: docs.example.com\r\nX-First: ${canary.token}\r\n${repeat("X-Pad: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", 14000)}X-Note: ${canary.token}\r\n\r\n"
    }
  }
  expect {
    verdict = "deny"
    reason  = "malformed_request"
    leak    = none
  }
}
