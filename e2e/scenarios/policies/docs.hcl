# Documentation to read: the pages that the team uses, by name. What else such a host
# has, a search above all, takes any text.

version = 1

grant "documentation" {
  reason     = "the agent reads the manual"
  owner      = "dev-tools"
  host       = "docs.example.com"
  credential = anonymous

  allow {
    methods = ["GET", "HEAD"]
    path    = "/manual/{version}/{page}.html"
    where   = { version = one_of("v1", "v2"), page = one_of("index", "install", "configure", "api", "faq") }
  }

  limits {
    requests = 200
    download = "50MiB"
  }
}
