# Kinds of traffic that proxies break: streams, WebSockets, uploads, ranges, HTTP in the
# clear, a second port. The origin is the team's own test service.

version = 1

grant "test-service" {
  reason     = "the test suite talks to the test service"
  owner      = "qa"
  host       = "echo.example.com"
  credential = anonymous

  allow {
    methods = ["GET", "HEAD"]
    path    = "/v1/items/{item}"
    where   = { item = int }
    query   = { page = int, sort = one_of("name", "date") }
    headers = { Range = regex("bytes=[0-9]{1,9}-[0-9]{0,9}") }
  }
  allow {
    methods = ["POST", "PUT", "PATCH"]
    path    = "/v1/items/{item}"
    where   = { item = int }
    body {
      type   = "application/json"
      max    = "4KiB"
      schema = file("report.schema.json")
    }
  }
  allow {
    methods = ["DELETE"]
    path    = "/v1/items/{item}"
    where   = { item = int }
  }

  limits {
    requests = 200
  }
}

grant "test-service-clear" {
  reason     = "the test suite checks that clear text is redirected"
  owner      = "qa"
  scheme     = "http"
  host       = "echo.example.com"
  credential = anonymous

  allow {
    methods = ["GET"]
    path    = "/v1/items/{item}"
    where   = { item = int }
  }

  limits {
    requests = 200
  }
}

grant "test-socket" {
  reason     = "the test suite watches events"
  owner      = "qa"
  host       = "www.example.com"
  credential = anonymous

  allow {
    methods   = ["GET"]
    path      = "/socket"
    websocket = true
  }
  allow {
    methods = ["GET"]
    path    = "/events"
  }

  limits {
    requests = 20
  }
}

grant "redirects" {
  reason     = "the test suite follows redirects of the test service"
  owner      = "qa"
  host       = "redirect.example.com"
  credential = anonymous

  allow {
    methods = ["GET", "HEAD"]
    path    = "/to/{where}"
    where   = { where = one_of("attacker", "loopback", "metadata", "clear", "private", "port", "item", "kept") }
  }

  limits {
    requests = 20
  }
}

grant "one-tenant" {
  reason     = "pages load from the team's part of the network"
  owner      = "qa"
  host       = "*.cdn.example.com"
  credential = anonymous

  allow {
    methods = ["GET"]
    path    = "/assets/{file}"
    where   = { file = one_of("app.js", "app.css") }
  }

  limits {
    requests = 50
    names    = 3
  }
}
