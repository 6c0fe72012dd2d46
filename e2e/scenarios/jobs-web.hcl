# Traffic that proxies are known to break.

scenario "documentation-is-read" {
  describe = "pages of the manual, with each client at hand"
  cases    = ["USE-01", "USE-02", "USE-28", "EXF-06"]
  policy   = "policies/docs.hcl"
  for_each = {
    curl    = "curl -sS --fail https://docs.example.com/manual/v1/index.html"
    curl_h2 = "curl -sS --fail --http2 https://docs.example.com/manual/v2/api.html"
    wget    = "wget -q -O- https://docs.example.com/manual/v1/faq.html"
    node    = "node -e 'fetch(\"https://docs.example.com/manual/v1/install.html\").then(r => r.text()).then(console.log)'"
    python  = "python3 -c 'import urllib.request; print(urllib.request.urlopen(\"https://docs.example.com/manual/v1/configure.html\").read().decode())'"
  }
  attempt {
    run { command = ["sh", "-c", each.value] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "words"
    arrives = ["GET https://docs.example.com/manual/*.html"]
  }
}

scenario "hosts-in-another-spelling" {
  describe = "a dot at the end and capitals mean the same host, and work"
  cases    = ["HOST-01", "HOST-02"]
  policy   = "policies/docs.hcl"
  for_each = ["docs.example.com.", "DOCS.example.com"]
  attempt {
    http { url = "https://${each.value}/manual/v1/index.html" }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}

scenario "methods-of-a-test-service" {
  describe = "reading, writing and deleting an item, over both versions of HTTP"
  cases    = ["USE-11", "USE-12", "HP-17"]
  policy   = "policies/web.hcl"
  for_each = { get = "1.1", get2 = "2", head = "1.1", delete = "1.1", delete2 = "2" }
  attempt {
    http {
      method  = { get = "GET", get2 = "GET", head = "HEAD", delete = "DELETE", delete2 = "DELETE" }[each.key]
      version = each.value
      url     = "https://echo.example.com/v1/items/7"
    }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}

scenario "bodies-for-a-test-service" {
  describe = "a report is posted whole, in chunks, and as a change"
  cases    = ["USE-13", "USE-16", "HP-03"]
  policy   = "policies/web.hcl"
  for_each = { whole = "-X POST", chunks = "-X PUT -H 'Transfer-Encoding: chunked'", change = "-X PATCH", expect = "-X POST -H 'Expect: 100-continue'" }
  attempt {
    run { command = ["sh", "-c", "curl -sS --fail --http1.1 ${each.value} -H 'Content-Type: application/json' -d '{\"passed\":1,\"failed\":0}' https://echo.example.com/v1/items/7"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    output  = "passed"
  }
}

scenario "queries-and-ranges" {
  describe = "declared parameters, and a part of a file"
  cases    = ["USE-35"]
  policy   = "policies/web.hcl"
  for_each = { "?page=2&sort=date" = "bytes=0-99", "?sort=name" = "bytes=100-" }
  attempt {
    http {
      url     = "https://echo.example.com/v1/items/7${each.key}"
      headers = { Range = each.value }
    }
  }
  expect {
    verdict = "allow"
    status  = [200, 206]
    output  = each.value
  }
}

scenario "requests-on-one-connection" {
  describe = "several granted requests, one after the other and all at once in the pipe"
  cases    = ["USE-09", "HP-09", "HP-21"]
  policy   = "policies/web.hcl"
  attempt {
    raw {
      connect   = "echo.example.com:443"
      tls       = true
      responses = 3
      bytes     = crlf("GET /v1/items/1 HTTP/1.1\nHost: echo.example.com\n\nGET /v1/items/2 HTTP/1.1\nHost: echo.example.com\n\nDELETE /v1/items/3 HTTP/1.1\nHost: echo.example.com\nConnection: close\n\n")
    }
  }
  expect {
    verdict = "allow"
    status  = 200
    arrives = ["GET https://echo.example.com/v1/items/1", "GET https://echo.example.com/v1/items/2", "DELETE https://echo.example.com/v1/items/3"]
  }
}

scenario "clear-text-where-it-is-granted" {
  describe = "http on port 80, which the policy names"
  cases    = ["PATH-14"]
  policy   = "policies/web.hcl"
  attempt {
    http { url = "http://echo.example.com/v1/items/7" }
  }
  expect {
    verdict = "allow"
    status  = 200
    arrives = ["GET http://echo.example.com/v1/items/7"]
  }
}

scenario "redirect-to-what-is-granted" {
  describe = "an answer leads to another granted host, and the client goes there"
  cases    = ["USE-17", "REDIR-01"]
  policy   = "policies/web.hcl"
  needs    = ["curl"]
  attempt {
    run { command = ["curl", "-sS", "--fail", "-L", "https://redirect.example.com/to/item"] }
  }
  expect {
    verdict = "allow"
    exit    = 0
    arrives = ["GET https://redirect.example.com/to/item", "GET https://echo.example.com/v1/items/7"]
  }
}

scenario "names-under-a-wildcard" {
  describe = "tenants of a network, up to the limit of names"
  cases    = ["DNS-06"]
  policy   = "policies/web.hcl"
  attempt {
    for_each = ["one", "two", "three"]
    http { url = "https://${item.value}.cdn.example.com/assets/app.css" }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}

scenario "large-headers" {
  describe = "thirty kilobytes of headers, which are legal"
  cases    = ["USE-33"]
  policy   = "policies/docs.hcl"
  attempt {
    http {
      url     = "https://docs.example.com/manual/v1/index.html"
      headers = { X-Large = [repeat("a", 8000), repeat("b", 8000), repeat("c", 8000)] }
    }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}

scenario "loopback-inside-of-the-sandbox" {
  describe = "a server and a client of the project's own tests, both inside"
  cases    = ["USE-25", "NET-11"]
  policy   = "policies/empty.hcl"
  needs    = ["python3"]
  attempt {
    run { command = ["sh", "-c", "echo it works > f; python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & for i in 1 2 3 4 5 6 7 8 9; do curl -s http://127.0.0.1:8123/f && break; sleep 0.3; done"] }
  }
  expect {
    verdict = "allow"
    output  = "it works"
    arrives = none
  }
}

scenario "two-addresses-of-a-host" {
  describe = "a granted host with an address of each family: clients get through at once"
  cases    = ["USE-27", "NET-05"]
  policy   = "policies/docs.hcl"
  given {
    dns "docs.example.com" { answers = [["203.0.113.7", "2001:db8:2::7"]] }
  }
  attempt {
    http { url = "https://docs.example.com/manual/v1/index.html" }
  }
  expect {
    verdict = "allow"
    status  = 200
  }
}
